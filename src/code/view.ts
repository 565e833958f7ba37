import { isWithin, linkTarget, realPath } from './host.ts'
import { RUN_FOLDER, settings } from './pack-sandbox.ts'

/** What code sees of the machine. */
export interface View {
  /** Shown, and not to be written to: `from` on the machine, `at` in the sandbox. */
  readonly binds: readonly { readonly from: string; readonly at: string }[]
  readonly links: readonly { readonly to: string; readonly at: string }[]
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const SETTINGS = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime']

/** Is it shown to every program? */
export function isSystem(path: string): boolean {
  return SYSTEM.some((folder) => isWithin(path, folder))
}

/** The system's folders as they are, links where they are links (`/bin` mostly is one), and the paths given. */
export function viewOf(paths: readonly string[]): View {
  const system = SYSTEM.map((at) => ({ at, to: linkTarget(at) }))
  const shown = [...system.filter(({ to }) => to === undefined).map(({ at }) => at), ...SETTINGS]
  return {
    binds: [
      ...shown.filter((at) => realPath(at) !== undefined).map((at) => ({ from: realPath(at) ?? at, at })),
      ...paths.flatMap((path) => {
        const from = realPath(path) ?? path
        return from === path || isSystem(from)
          ? [{ from, at: path }]
          : [
              { from, at: path },
              { from, at: from },
            ]
      }),
    ],
    links: [
      ...system.flatMap(({ at, to }) => (to === undefined ? [] : [{ at, to }])),
      ...Object.keys(settings).map((name) => ({ at: `/etc/${name}`, to: `${RUN_FOLDER}/${name}` })),
    ],
  }
}

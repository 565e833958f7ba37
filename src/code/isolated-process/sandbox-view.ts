import { isWithin, linkTarget, procEntries, realPath } from '../process/machine.ts'
import { RUN_FOLDER, settings } from '../process/pack-sandbox.ts'

/** What code sees of the machine. */
export interface View {
  /** Shown, and not to be written to: `from` on the machine, `at` in the sandbox. */
  readonly binds: readonly { readonly from: string; readonly at: string }[]
  readonly links: readonly { readonly to: string; readonly at: string }[]
  /** Entries of the sandbox's /proc that reveal the machine: the files cannot be opened, the folders are empty. */
  readonly hiddenFiles: readonly string[]
  readonly hiddenFolders: readonly string[]
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const SETTINGS = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime']

/** What programs ask /proc about besides processes: processors, memory, load, the network of the sandbox, kernel settings. */
const SHOWN_IN_PROC = new Set(['cpuinfo', 'meminfo', 'stat', 'uptime', 'loadavg', 'sysvipc', 'sys'])

/** Kernel settings that identify the machine or name its programs and devices. */
const HIDDEN_SETTINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['/proc/sys', ['abi', 'debug', 'dev', 'sunrpc']],
  ['/proc/sys/fs', ['binfmt_misc', 'nfs', 'quota', 'xfs']],
  [
    '/proc/sys/kernel',
    ['core_pattern', 'domainname', 'firmware_config', 'hotplug', 'keys', 'modprobe', 'poweroff_cmd'],
  ],
  ['/proc/sys/kernel/random', ['boot_id']],
])

/** Is it shown to every program? */
export function isSystem(path: string): boolean {
  return SYSTEM.some((folder) => isWithin(path, folder))
}

/** The system's folders as they are, links where they are links (`/bin` mostly is one), and the paths given. */
export function viewOf(paths: readonly string[]): View {
  const system = SYSTEM.map((at) => ({ at, to: linkTarget(at) }))
  const shown = [...system.filter(({ to }) => to === undefined).map(({ at }) => at), ...SETTINGS]
  const hidden = [
    ...procEntries('/proc').filter(({ name }) => !SHOWN_IN_PROC.has(name)),
    ...[...HIDDEN_SETTINGS].flatMap(([at, names]) => procEntries(at).filter(({ name }) => names.includes(name))),
  ]
  return {
    hiddenFiles: hidden.filter(({ isFolder }) => !isFolder).map(({ path }) => path),
    hiddenFolders: hidden.filter(({ isFolder }) => isFolder).map(({ path }) => path),
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

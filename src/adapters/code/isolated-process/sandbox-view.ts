import { isWithin, linkTarget, listProcEntries, realPath } from '../process/machine.ts'
import { etcFiles, RUN_FOLDER } from '../process/pack-sandbox-files.ts'

/** The part of the machine's file system that code in a sandbox sees. */
export interface SandboxView {
  /** Paths shown read-only: `from` on the machine, `at` in the sandbox. */
  readonly binds: readonly { readonly from: string; readonly at: string }[]
  /** Symbolic links to create in the sandbox: `at` points to `to`. */
  readonly links: readonly { readonly to: string; readonly at: string }[]
  /** Files in the sandbox's /proc that reveal facts about the machine. They cannot be opened. */
  readonly hiddenFiles: readonly string[]
  /** Folders in the sandbox's /proc that reveal facts about the machine. They are empty. */
  readonly hiddenFolders: readonly string[]
}

const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const ETC_PATHS = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime']

/** Entries of /proc that ordinary programs need: processors, memory, load, kernel settings. All others are hidden. */
const SHOWN_PROC_ENTRIES = new Set(['cpuinfo', 'meminfo', 'stat', 'uptime', 'loadavg', 'sysvipc', 'sys'])

/** Kernel settings that identify the machine or name its programs and devices. They are hidden. */
const HIDDEN_KERNEL_SETTINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['/proc/sys', ['abi', 'debug', 'dev', 'sunrpc']],
  ['/proc/sys/fs', ['binfmt_misc', 'nfs', 'quota', 'xfs']],
  [
    '/proc/sys/kernel',
    ['core_pattern', 'domainname', 'firmware_config', 'hotplug', 'keys', 'modprobe', 'poweroff_cmd'],
  ],
  ['/proc/sys/kernel/random', ['boot_id']],
])

/** Whether a path is in a system folder that every sandbox shows. */
export function isSystemPath(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isWithin(path, folder))
}

/**
 * Builds the view: the system folders, the given paths, and replacements for the files of /etc. A system folder that is a
 * link on the machine (`/bin` usually is) stays a link. A given path that is a link is shown under both names.
 */
export function buildSandboxView(paths: readonly string[]): SandboxView {
  const system = SYSTEM_FOLDERS.map((at) => ({ at, to: linkTarget(at) }))
  const shown = [...system.filter(({ to }) => to === undefined).map(({ at }) => at), ...ETC_PATHS]
  const hidden = [
    ...listProcEntries('/proc').filter(({ name }) => !SHOWN_PROC_ENTRIES.has(name)),
    ...[...HIDDEN_KERNEL_SETTINGS].flatMap(([at, names]) =>
      listProcEntries(at).filter(({ name }) => names.includes(name)),
    ),
  ]
  return {
    hiddenFiles: hidden.filter(({ isFolder }) => !isFolder).map(({ path }) => path),
    hiddenFolders: hidden.filter(({ isFolder }) => isFolder).map(({ path }) => path),
    binds: [
      ...shown.filter((at) => realPath(at) !== undefined).map((at) => ({ from: realPath(at) ?? at, at })),
      ...paths.flatMap((path) => {
        const from = realPath(path) ?? path
        const bind = { from, at: path }
        return from === path || isSystemPath(from) ? [bind] : [bind, { from, at: from }]
      }),
    ],
    links: [
      ...system.flatMap(({ at, to }) => (to === undefined ? [] : [{ at, to }])),
      ...Object.keys(etcFiles).map((name) => ({ at: `/etc/${name}`, to: `${RUN_FOLDER}/${name}` })),
    ],
  }
}

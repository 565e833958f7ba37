import { BUILT, LOOK_AFTER } from '../process/sandbox-script.ts'
import { type Isolation, looked, type SandboxTools, sandboxScript } from './isolation.ts'

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom']

/** The descriptor bubblewrap writes the process id of the sandbox to. */
const PROCESS = 7

/** The descriptor a filter for system calls is read from. */
const FILTER = 8

/** What the shell that looks after the code needs besides. */
const MORE_PROCESSES = 8

/** Namespaces made by bubblewrap. Root gives itself up first: root is not counted by the limit on processes. */
export function bubblewrapIsolation(tools: SandboxTools, bwrap: string): Isolation {
  return {
    name: 'bubblewrap',
    processDescriptor: PROCESS,
    ...(tools.filter && { gives: new Map([[FILTER, tools.filter.bytes]]) }),
    command: (run) => [
      ...become(tools),
      ...[bwrap, '--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
      ...['--unshare-uts', '--unshare-cgroup-try', '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
      ...['--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL', '--info-fd', String(PROCESS)],
      ...(tools.filter ? ['--seccomp', String(FILTER)] : []),
      ...['--tmpfs', '/dev', ...DEVICES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`])],
      ...['--symlink', '/proc/self/fd', '/dev/fd', '--symlink', '/tmp/shm', '/dev/shm', '--remount-ro', '/dev'],
      ...['--proc', '/proc', '--perms', '1777', '--size', String(run.resources.diskBytes), '--tmpfs', '/tmp'],
      ...run.view.hiddenFiles.flatMap((at) => ['--ro-bind', '/dev/null', at]),
      ...run.view.hiddenFolders.flatMap((at) => ['--tmpfs', at, '--remount-ro', at]),
      ...run.view.binds.flatMap(({ from, at }) => ['--ro-bind', from, at]),
      ...run.view.links.flatMap(({ to, at }) => ['--symlink', to, at]),
      ...['--remount-ro', '/', '--chdir', '/tmp', '--'],
      // the shell is of the same user as the code, which may take it over: it gets hardly more than the code
      ...[tools.prlimit, ...run.limits, `--nproc=${run.resources.processes + MORE_PROCESSES}`, '--'],
      ...[tools.sh, '-c', sandboxScript(run, BUILT + LOOK_AFTER), 'sandbox', ...looked(run, tools)],
    ],
  }
}

function become({ setpriv, newUser }: SandboxTools): string[] {
  if (!newUser) return []
  const user = newUser()
  return [setpriv, `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--']
}

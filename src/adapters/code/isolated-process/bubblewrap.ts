import { ENTER_BUILT_SANDBOX, SUPERVISE_CODE } from '../process/sandbox-script.ts'
import { closeInheritedDescriptors, type Isolation, type SandboxPrograms, superviseArguments } from './isolation.ts'

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom']

/** The descriptor bubblewrap writes the process id of the sandbox to. */
const INFO_DESCRIPTOR = 7

/** The descriptor bubblewrap reads the system call filter from. */
const FILTER_DESCRIPTOR = 8

/** Processes that the supervising shell needs in addition to those of the code. */
const SHELL_PROCESSES = 8

/**
 * Isolates code with bubblewrap. Root switches to an unprivileged user first, because the kernel does not count root's
 * processes against the process limit.
 */
export function bubblewrapIsolation(programs: SandboxPrograms, bwrap: string): Isolation {
  const { systemCallFilter } = programs
  return {
    name: 'bubblewrap',
    infoDescriptor: INFO_DESCRIPTOR,
    ...(systemCallFilter && { descriptorInputs: new Map([[FILTER_DESCRIPTOR, systemCallFilter.bytes]]) }),
    command: (launch) => [
      ...switchUser(programs),
      ...[bwrap, '--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
      ...['--unshare-uts', '--unshare-cgroup-try', '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
      ...['--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL'],
      ...['--info-fd', String(INFO_DESCRIPTOR)],
      ...(systemCallFilter ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
      ...['--tmpfs', '/dev', ...DEVICES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`])],
      ...['--symlink', '/proc/self/fd', '/dev/fd', '--symlink', '/tmp/shm', '/dev/shm', '--remount-ro', '/dev'],
      ...['--proc', '/proc', '--perms', '1777', '--size', String(launch.resources.diskBytes), '--tmpfs', '/tmp'],
      ...launch.view.hiddenFiles.flatMap((at) => ['--ro-bind', '/dev/null', at]),
      ...launch.view.hiddenFolders.flatMap((at) => ['--tmpfs', at, '--remount-ro', at]),
      ...launch.view.binds.flatMap(({ from, at }) => ['--ro-bind', from, at]),
      ...launch.view.links.flatMap(({ to, at }) => ['--symlink', to, at]),
      ...['--remount-ro', '/', '--chdir', '/tmp', '--'],
      // The shell runs as the same user as the code, so the code may take control of it. Therefore the limits of the
      // shell are only slightly higher than those of the code.
      ...[
        programs.prlimit,
        ...launch.prlimitArguments,
        `--nproc=${launch.resources.processes + SHELL_PROCESSES}`,
        '--',
      ],
      ...[programs.sh, '-c', closeInheritedDescriptors(launch, ENTER_BUILT_SANDBOX + SUPERVISE_CODE), 'sandbox'],
      ...superviseArguments(launch, programs),
    ],
  }
}

function switchUser({ setpriv, pickUserId }: SandboxPrograms): string[] {
  if (!pickUserId) return []
  const user = pickUserId()
  return [setpriv, `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--']
}

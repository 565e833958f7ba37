import { BUILD_SANDBOX, SUPERVISE_CODE } from '../process/sandbox-script.ts'
import { closeInheritedDescriptors, type Isolation, type SandboxPrograms, superviseArguments } from './isolation.ts'

/**
 * Isolates code with `unshare` of util-linux and the script `BUILD_SANDBOX`. Root creates the namespaces as root; any
 * other user as root of a new user namespace. `--pdeathsig` and `--kill-child` end the sandbox when the host is killed.
 */
export function unshareIsolation(programs: SandboxPrograms, unshare: string): Isolation {
  const { pickUserId } = programs
  return {
    name: 'unshare',
    command: (launch) => [
      ...[programs.setpriv, '--pdeathsig', 'KILL', '--', unshare],
      ...(pickUserId ? [] : ['--user', '--map-root-user']),
      ...['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child=KILL', '--'],
      ...[programs.sh, '-c', closeInheritedDescriptors(launch, BUILD_SANDBOX + SUPERVISE_CODE), 'sandbox'],
      programs.buildFolder,
      `size=${launch.resources.diskBytes},nr_inodes=${launch.resources.diskFiles}`,
      pickUserId ? String(pickUserId()) : '',
      launch.prlimitArguments.join(' '),
      ...launch.view.hiddenFiles.flatMap((at) => ['hide', 'dev/null', at]),
      ...launch.view.hiddenFolders.flatMap((at) => ['hide', 'empty', at]),
      ...launch.view.binds.flatMap(({ from, at }) => ['bind', from, at]),
      ...launch.view.links.flatMap(({ to, at }) => ['link', to, at]),
      ...['--', ...superviseArguments(launch, programs, programs.systemCallFilter)],
    ],
  }
}

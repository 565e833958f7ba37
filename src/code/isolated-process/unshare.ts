import { BUILD, LOOK_AFTER } from '../process/sandbox-script.ts'
import { type Isolation, looked, type SandboxTools, sandboxScript } from './isolation.ts'

/** Namespaces made with util-linux. Root makes them as root; anybody else as the root of a user namespace. */
export function unshareIsolation(tools: SandboxTools, unshare: string): Isolation {
  return {
    name: 'unshare',
    command: (run) => [
      ...[tools.setpriv, '--pdeathsig', 'KILL', '--', unshare],
      ...(tools.newUser ? [] : ['--user', '--map-root-user']),
      ...['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child=KILL', '--'],
      ...[tools.sh, '-c', sandboxScript(run, BUILD + LOOK_AFTER), 'sandbox', tools.buildIn],
      `size=${run.resources.diskBytes},nr_inodes=${run.resources.diskFiles}`,
      tools.newUser ? String(tools.newUser()) : '',
      run.limits.join(' '),
      ...run.view.hiddenFiles.flatMap((at) => ['hide', 'dev/null', at]),
      ...run.view.hiddenFolders.flatMap((at) => ['hide', 'empty', at]),
      ...run.view.binds.flatMap(({ from, at }) => ['bind', from, at]),
      ...run.view.links.flatMap(({ to, at }) => ['link', to, at]),
      ...['--', ...looked(run, tools, tools.filter)],
    ],
  }
}

import { type Isolation, looked, type SandboxTools } from './isolation.ts'
import { BUILD, LOOK_AFTER } from './sandbox-script.ts'

/** Namespaces made with util-linux. Root makes them as root; anybody else as the root of a user namespace. */
export function unshareIsolation(tools: SandboxTools, unshare: string): Isolation {
  return {
    name: 'unshare',
    command: (run) => [
      ...[tools.setpriv, '--pdeathsig', 'KILL', '--', unshare],
      ...(tools.newUser ? [] : ['--user', '--map-root-user']),
      ...['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child=KILL', '--'],
      ...[tools.sh, '-c', BUILD + LOOK_AFTER, 'sandbox', tools.buildIn],
      `size=${run.resources.diskBytes},nr_inodes=${run.resources.diskFiles}`,
      tools.newUser ? String(tools.newUser()) : '',
      run.limits.join(' '),
      ...run.view.binds.flatMap(({ from, at }) => ['bind', from, at]),
      ...run.view.links.flatMap(({ to, at }) => ['link', to, at]),
      ...['--', ...looked(run, filtered(tools))],
    ],
  }
}

/** Puts the filter in place and becomes what follows. Perl is what most systems have that can call the kernel by number. */
const PERL = `my ($prctl, $filter) = (shift, pack("H*", shift));
my $program = pack("S x6 P", length($filter) / 8, $filter);
syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";`

function filtered({ perl, filter }: SandboxTools): string[] {
  if (perl === undefined || !filter) return []
  return [perl, '-e', PERL, String(filter.prctl), Buffer.from(filter.bytes).toString('hex')]
}

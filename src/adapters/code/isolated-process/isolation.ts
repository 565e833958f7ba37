import type { SandboxResources } from './resource-limits.ts'
import type { SandboxView } from './sandbox-view.ts'
import type { SystemCallFilter } from './system-call-filter.ts'

/** What to start in a sandbox. */
interface SandboxLaunch {
  /** The part of the machine's file system that the code sees. */
  readonly view: SandboxView
  /** Limits that the sandbox itself enforces. */
  readonly resources: SandboxResources
  /** Arguments of `prlimit` for the code. */
  readonly prlimitArguments: readonly string[]
  /** The file in the sandbox to connect to stdin; undefined for none. */
  readonly stdin: string | undefined
  /** Whether the code gets the descriptors of the tool channel. */
  readonly usesTools: boolean
  /** Program and arguments of the code. */
  readonly command: readonly string[]
}

/** The programs that can build a sandbox: bubblewrap, or `unshare` of util-linux. */
export type IsolationName = 'bubblewrap' | 'unshare'

/** One way to build a sandbox on this machine. */
export interface Isolation {
  /** The program that builds the sandbox. */
  readonly name: IsolationName
  /** The command that builds the sandbox and runs the code in it. */
  command(launch: SandboxLaunch): string[]
  /** Bytes the command reads from further descriptors. */
  readonly descriptorInputs?: ReadonlyMap<number, Uint8Array> | undefined
  /**
   * Set when the isolation cannot limit the number of files itself. The command writes the process id of the sandbox to
   * this descriptor, so that the host can count the files from outside.
   */
  readonly infoDescriptor?: number | undefined
}

/** The programs and facts of this machine that an isolation uses. */
export interface SandboxPrograms {
  /** Path of a POSIX shell. */
  readonly sh: string
  /** Path of `setpriv`. */
  readonly setpriv: string
  /** Path of `prlimit`. */
  readonly prlimit: string
  /** An existing folder that no sandbox shows, to build the new root in. */
  readonly buildFolder: string
  /** Path of Perl, which closes inherited descriptors above 9 and installs the system call filter for `unshare`. */
  readonly perl?: string | undefined
  /** The filter for this processor; undefined when its system call numbers are not known. */
  readonly systemCallFilter?: SystemCallFilter | undefined
  /** Set when the host runs as root. Returns a user id for one run that no other user has. */
  readonly pickUserId?: (() => number) | undefined
}

/** The arguments of `SUPERVISE_CODE`, which writes "." before the code starts and nothing before the files. */
export function superviseArguments(
  { resources, stdin = '/dev/null', command }: SandboxLaunch,
  programs: SandboxPrograms,
  filter?: SystemCallFilter,
): string[] {
  const processLimit = `--nproc=${resources.processes}:${resources.processes}`
  return ['.', '', stdin, 'prlimit', processLimit, '--', ...perlLauncher(programs, filter), ...command]
}

/**
 * A script that first closes the descriptors 3 and 7 to 9, and 5 and 6 unless the code calls tools. Threat: code reads or
 * writes through a descriptor of the host. Test: isolated-process-descriptors.test.ts.
 */
export function closeInheritedDescriptors({ usesTools }: SandboxLaunch, script: string): string {
  return `exec 3>&- 7>&- 8>&- 9>&-${usesTools ? '' : ' 5>&- 6>&-'}\n${script}`
}

/**
 * Closes every descriptor above 9, which a POSIX shell cannot name; installs the system call filter if there is one; then
 * replaces itself with the command that follows. Perl is used because most systems have it and it can make system calls.
 */
const PERL_SCRIPT = `my ($prctl, $filter) = (shift, pack("H*", shift));
opendir(my $open, "/proc/self/fd") or die "/proc/self/fd: $!";
for my $descriptor (grep { /^\\d+$/ && $_ > 9 } readdir $open) { open(my $file, "<&=", $descriptor) and close $file }
if ($prctl) {
  my $program = pack("S x6 P", length($filter) / 8, $filter);
  syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!";
}
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";`

function perlLauncher({ perl }: SandboxPrograms, filter: SystemCallFilter | undefined): string[] {
  if (perl === undefined) return []
  return [perl, '-e', PERL_SCRIPT, String(filter?.prctl ?? 0), Buffer.from(filter?.bytes ?? []).toString('hex')]
}

import type { Resources } from './resource-limits.ts'
import type { View } from './sandbox-view.ts'

/** One run in a sandbox. */
export interface Sandboxed {
  readonly view: View
  readonly resources: Resources
  /** Arguments of `prlimit`. */
  readonly limits: readonly string[]
  /** A file in the sandbox. */
  readonly stdin: string | undefined
  /** The code gets the descriptors of the tool channel. */
  readonly usesTools: boolean
  readonly command: readonly string[]
}

export type IsolationName = 'bubblewrap' | 'unshare'

/** A way to run a command where it can do no harm. */
export interface Isolation {
  readonly name: IsolationName
  command(run: Sandboxed): string[]
  /** What it is given on descriptors of its own. */
  readonly gives?: ReadonlyMap<number, Uint8Array> | undefined
  /** It cannot limit the number of files by itself: it writes the id of the process to look at to this descriptor. */
  readonly processDescriptor?: number | undefined
}

/** The programs of this machine that sandboxes are built with. */
export interface SandboxTools {
  readonly sh: string
  readonly setpriv: string
  readonly prlimit: string
  readonly unshare?: string | undefined
  readonly bwrap?: string | undefined
  /** A folder that exists and that no sandbox shows. */
  readonly buildIn: string
  /** Closes inherited descriptors above 9, and installs the filter on system calls where nothing else can. */
  readonly perl?: string | undefined
  readonly filter?: { readonly bytes: Uint8Array; readonly prctl: number } | undefined
  /** Started by root: code runs as a user nobody else is. */
  readonly newUser?: (() => number) | undefined
}

/** What the script that looks after the code is told: a dot says that it starts, nothing stands before its files. */
export function looked(run: Sandboxed, tools: SandboxTools, filter?: SandboxTools['filter']): string[] {
  const { resources, stdin = '/dev/null', command } = run
  const limit = `--nproc=${resources.processes}:${resources.processes}`
  return ['.', '', stdin, 'prlimit', limit, '--', ...confiner(tools, filter), ...command]
}

/** A script that starts with no descriptor but stdin, stdout, stderr, 4 for files, and the tool channel if it is used. */
export function sandboxScript({ usesTools }: Sandboxed, script: string): string {
  return `exec 3>&- 7>&- 8>&- 9>&-${usesTools ? '' : ' 5>&- 6>&-'}\n${script}`
}

/**
 * Closes every descriptor above 9, which a POSIX shell has no word for, installs the filter if there is one, and becomes
 * the command that follows. Perl is what most systems have that can call the kernel by number.
 */
const PERL = `my ($prctl, $filter) = (shift, pack("H*", shift));
opendir(my $open, "/proc/self/fd") or die "/proc/self/fd: $!";
for my $descriptor (grep { /^\\d+$/ && $_ > 9 } readdir $open) { open(my $file, "<&=", $descriptor) and close $file }
if ($prctl) {
  my $program = pack("S x6 P", length($filter) / 8, $filter);
  syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!";
}
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";`

function confiner({ perl }: SandboxTools, filter: SandboxTools['filter']): string[] {
  if (perl === undefined) return []
  return [perl, '-e', PERL, String(filter?.prctl ?? 0), Buffer.from(filter?.bytes ?? []).toString('hex')]
}

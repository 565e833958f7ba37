import type { Resources } from './resource-limits.ts'
import type { View } from './view.ts'

/** One run in a sandbox. */
export interface Sandboxed {
  readonly view: View
  readonly resources: Resources
  /** Arguments of `prlimit`. */
  readonly limits: readonly string[]
  /** A file in the sandbox. */
  readonly stdin: string | undefined
  readonly command: readonly string[]
}

export type IsolationName = 'bubblewrap' | 'unshare'

/** A way to run a command where it can do no harm. */
export interface Isolation {
  readonly name: IsolationName
  command(run: Sandboxed): string[]
  /** What it is given on descriptors of its own. */
  readonly gives?: ReadonlyMap<number, Uint8Array> | undefined
  /** It cannot limit the number of files by itself: descriptor 7 says which process to look at. */
  readonly saysProcess?: boolean | undefined
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
  /** What can put a filter on system calls in place when nothing else can, and the filter for this processor. */
  readonly perl?: string | undefined
  readonly filter?: { readonly bytes: Uint8Array; readonly prctl: number } | undefined
  /** Started by root: code runs as a user nobody else is. */
  readonly newUser?: (() => number) | undefined
}

/** What the script that looks after the code is told: a dot says that it starts, nothing stands before its files. */
export function looked(run: Sandboxed, prefix: readonly string[] = []): string[] {
  const { resources, stdin = '/dev/null', command } = run
  const limit = `--nproc=${resources.processes}:${resources.processes}`
  return ['.', '', stdin, 'prlimit', limit, '--', ...prefix, ...command]
}

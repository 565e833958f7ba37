import type { VmOptions, VmOutcome } from './vm.ts'

/** Files cross between threads as pairs of name and bytes. */
type NamedBytes = readonly (readonly [string, Uint8Array])[]

/** What a worker thread is started with. */
export interface VmWorkerData extends VmOptions {
  /** Number of files one run can write. */
  readonly maxFiles: number
  /** Bytes of all files one run can write. */
  readonly maxFileBytes: number
}

/** A message from the host to the worker: run code, or the result of a tool call. */
export type MessageToVm =
  | { readonly type: 'run'; readonly code: string; readonly files: NamedBytes; readonly tools: readonly string[] }
  | { readonly type: 'tool-result'; readonly id: number; readonly isSuccess: boolean; readonly json: string }

/**
 * A message from the worker to the host. `ready`: the engine is loaded. `started`: the code begins, so its deadline does.
 * `stopped`: the run exceeds a limit, so the host must terminate the thread. `done`: the run is over.
 */
export type MessageFromVm =
  | { readonly type: 'ready' }
  | { readonly type: 'started' }
  | { readonly type: 'print'; readonly stream: 'out' | 'err'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: number; readonly name: string; readonly args: string }
  | { readonly type: 'stopped'; readonly reason: string }
  | { readonly type: 'done'; readonly outcome: VmOutcome; readonly files: NamedBytes; readonly isMemoryFull: boolean }

import type { VmOptions, VmOutcome } from './vm.ts'

/** Files cross as pairs of name and bytes. */
export type NamedBytes = readonly (readonly [string, Uint8Array])[]

/** What a worker is started with. */
export interface VmWorkerData extends VmOptions {
  readonly maxFiles: number
  readonly maxFileBytes: number
}

/** What a worker is told. */
export type ToVm =
  | { readonly type: 'run'; readonly code: string; readonly files: NamedBytes; readonly tools: readonly string[] }
  | { readonly type: 'answer'; readonly id: number; readonly isGood: boolean; readonly json: string }

/** What a worker tells. */
export type FromVm =
  | { readonly type: 'ready' }
  | { readonly type: 'started' }
  | { readonly type: 'print'; readonly stream: 'out' | 'err'; readonly text: string }
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: string }
  | { readonly type: 'stopped'; readonly reason: string }
  | { readonly type: 'done'; readonly outcome: VmOutcome; readonly files: NamedBytes; readonly isFull: boolean }

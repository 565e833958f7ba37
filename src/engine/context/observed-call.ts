import type { Observation } from '../observe/observation.ts'
import type { Operation, OperationNote } from '../observe/operation.ts'

/** A call that is observed. */
export interface ObservedCall {
  /** The observers. */
  readonly observation: Observation
  /** The attempt; before the first one, the call. */
  readonly operation: Operation
}

/** Tells the observers of a call what happens in it. */
export function noteInCall(observed: ObservedCall | undefined, note: OperationNote): void {
  observed?.observation.note(observed.operation, note)
}

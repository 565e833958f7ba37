import { type Fold, openRequests } from '../../event/fold.ts'
import type { Next } from './next.ts'

/** An unfinished invocation and its next step. */
export interface OpenInvocation {
  /** The state of the invocation. */
  readonly fold: Fold
  /** Its next step. */
  readonly step: Next
}

/** A fold and its next step. The step is computed again when the fold has changed. */
export class EvaluatedInvocation implements OpenInvocation {
  readonly fold: Fold
  /** The version of the fold that `step` was computed for. */
  version = -1
  step: Next = { type: 'done' }
  /** The invocation waits for results of long-running calls and for nothing else. */
  isDormant = false
  constructor(fold: Fold) {
    this.fold = fold
  }
}

/** Shared and never written, because most sessions have no unfinished earlier invocation. */
export const NO_INVOCATIONS: Map<string, EvaluatedInvocation> = new Map()

/** Adds an invocation. Returns a new map if `all` is the shared empty one. */
export function withInvocation(
  all: Map<string, EvaluatedInvocation>,
  invocation: EvaluatedInvocation,
): Map<string, EvaluatedInvocation> {
  const own = all === NO_INVOCATIONS ? new Map<string, EvaluatedInvocation>() : all
  return own.set(invocation.fold.invocationId, invocation)
}

/** Does the invocation wait for results of long-running calls, and for no answer? */
export function isDormant(fold: Fold, step: Next): boolean {
  if (step.type !== 'wait' || !step.on.every(({ pending }) => pending)) return false
  return fold.waitingCalls().every((call) => openRequests(call).length === 0)
}

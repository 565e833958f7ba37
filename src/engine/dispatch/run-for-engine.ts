// Runs the body of a background call that another process dispatched. Its handle is in the log; its result goes to the inbox.
import type { JsonObject } from '../../core/base/json.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { type BackgroundOutcome, outcomeInBackground, safeFormatter, stoppedBody } from './background-result.ts'
import { execute } from './execute.ts'
import type { Batch } from './host.ts'
import { observeExecution, observePrepare } from './observe-call.ts'
import { type AnsweredCall, type CallResult, failure, type ReadyCall } from './outcome.ts'
import { prepare, prepareDispatched } from './prepare.ts'
import { entryFor } from './resolve.ts'

/** What the log says about the attempts of a body. */
interface Attempts {
  /** The arguments, if they differ from those the model sent. */
  readonly args: JsonObject | undefined
  /** How many attempts have lost their process in a row. */
  readonly crashes: number
  /** The most of them, after which the body does not run again. */
  readonly maxCrashes: number
}

/**
 * Runs a call of a batch. `intent` of the call says whether an earlier attempt may have taken effect: then the effect of the tool
 * decides. Rejects when the body is stopped.
 */
export async function runForEngine(batch: Batch, call: CallState, attempts: Attempts): Promise<BackgroundOutcome> {
  const prepared = await observePrepare(batch, call, () => prepareBody(batch, call, attempts))
  if (prepared.type === 'result') return { response: prepared.response, stateDelta: prepared.actions?.stateDelta }
  const outcome = await observeExecution(batch, prepared, execute)
  return outcomeInBackground(outcome, safeFormatter(prepared.entry.background))
}

/** Prepares the body. Its effect may settle the call, and what must ask a person again is refused. */
async function prepareBody(
  batch: Batch,
  call: CallState,
  { args, crashes, maxCrashes }: Attempts,
): Promise<ReadyCall | AnsweredCall | CallResult> {
  const entry = entryFor(batch, call)
  const refuse = (problem: string): CallResult => {
    const error = `Tool "${call.name}" was not run${call.intent ? ' again' : ''}: ${problem}.`
    return call.intent ? stoppedBody(call, entry, error) : failure(call, 'CANCELLED', error)
  }
  if (entry && entry.kind !== 'body') return refuse('it is an agent now, which runs in no background')
  if (crashes >= maxCrashes) return refuse(`${crashes} processes in a row have died while it ran`)
  const prepared = await (call.intent ? prepare(batch, call) : prepareDispatched(batch, call, args))
  const { stopped } = batch.host.stop
  if (stopped) throw stopped.reason
  if (prepared.type === 'ready' || prepared.type === 'answered' || prepared.type === 'result') return prepared
  return refuse('it must ask a person again, because its definition, its gate or the credential has changed')
}

/** The result of a call whose agent no longer exists. */
export function withoutAgent(call: CallState): BackgroundOutcome {
  const error = `Tool "${call.name}" was not run${call.intent ? ' again' : ''}: agent "${call.agent}" no longer exists.`
  const { response } = call.intent ? stoppedBody(call, undefined, error) : failure(call, 'NOT_FOUND', error)
  return { response, stateDelta: undefined }
}

// Shows calls to observers: each attempt of a body, and calls that never reach theirs.

import { type CallState, isFailure } from '../../core/event/invocation-state.ts'
import type { Observation, Settled } from '../observe/observation.ts'
import type { CallOperation, Operation, OperationEnd, ToolOperation } from '../observe/operation.ts'
import { codeOfThrown } from './attempts.ts'
import { type Batch, SUSPENDED } from './host.ts'
import type { AnsweredCall, Outcome, Prepared, ReadyCall } from './outcome.ts'
import { entryFor } from './resolve.ts'

/** Prepares a call, and shows it if it ends there: refused, denied, or waiting for an answer. */
export function observePrepare<T extends Prepared>(
  batch: Batch,
  call: CallState,
  prepare: (batch: Batch, call: CallState) => T | Promise<T>,
): T | Promise<T> {
  const startedAt = batch.host.services.ports.now()
  const prepared = prepare(batch, call)
  if (!(prepared instanceof Promise)) return reportEnded(batch, prepared, startedAt)
  return prepared.then((one) => reportEnded(batch, one, startedAt))
}

function reportEnded<T extends Prepared>(batch: Batch, prepared: T, startedAt: number): T | Promise<T> {
  if (prepared.type === 'ready' || prepared.type === 'answered' || prepared.type === 'suspended') return prepared
  const ended = callOperation(batch, prepared.call, startedAt)
  if (!ended) return prepared
  const reported = ended.observation.report(ended.operation, endOfOutcome(prepared))
  return reported.then(() => withTrace(ended, prepared))
}

/**
 * Runs a prepared call. Without policies, the call is one attempt. With policies, each attempt is shown as it is made, and the call only
 * if its attempts do not tell its outcome: a cached result, a limit, a result that is not valid.
 */
export function observeExecution(
  batch: Batch,
  one: ReadyCall | AnsweredCall,
  execute: (batch: Batch, one: ReadyCall | AnsweredCall) => Promise<Outcome>,
): Promise<Outcome> {
  if (one.type === 'answered' || one.entry.tool.middleware?.length) return observePolicies(batch, one, execute)
  const attempt = toolOperation(batch, one.call, one.args, 1)
  if (!attempt) return execute(batch, one)
  one.context.observed = attempt
  const { observation, operation } = attempt
  const work = (): Promise<Outcome> => execute(batch, one)
  const executed = observation.around(operation, work, (settled) => endOf(batch, settled), batch.host.stop)
  return executed.then((outcome) => withTrace(attempt, outcome))
}

async function observePolicies(
  batch: Batch,
  one: ReadyCall | AnsweredCall,
  execute: (batch: Batch, one: ReadyCall | AnsweredCall) => Promise<Outcome>,
): Promise<Outcome> {
  const ended = callOperation(batch, one.call, batch.host.services.ports.now())
  if (!ended) return await execute(batch, one)
  one.context.observed = ended // until the first attempt: policies note what they do
  try {
    const outcome = await execute(batch, one)
    const end = endOfOutcome(outcome)
    const last = one.type === 'ready' ? one.lastAttempt : undefined
    if (last?.outcome === end.outcome) return withTrace({ ...ended, operation: last.operation }, outcome)
    const isCached = one.type === 'ready' && !last && end.outcome === 'completed'
    await ended.observation.report(ended.operation, isCached ? { ...end, outcome: 'cached' } : end)
    return withTrace(ended, outcome)
  } catch (error) {
    if (one.type === 'answered' || !one.lastAttempt) await ended.observation.report(ended.operation, CANCELLED)
    throw error
  }
}

/** Runs an attempt that a policy makes. */
export function observeAttempt(
  batch: Batch,
  ready: ReadyCall,
  args: unknown,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const attempt = toolOperation(batch, ready.call, args, ready.attempts?.count ?? 1)
  if (!attempt) return work()
  const { observation, operation } = attempt
  ready.context.observed = attempt // the context of the attempt copies it
  const end = (settled: Settled<unknown>): OperationEnd => {
    const ended = endOfAttempt(batch, settled)
    ready.lastAttempt = { operation, outcome: ended.outcome }
    return ended
  }
  return observation.around(operation, work, end, batch.host.stop)
}

/** An operation, and who observes it. */
interface Observed<T extends Operation> {
  readonly observation: Observation
  readonly operation: T
}

const CANCELLED: OperationEnd = { outcome: 'cancelled' }

function toolOperation(
  batch: Batch,
  call: CallState,
  args: unknown,
  attempt: number,
): Observed<ToolOperation> | undefined {
  const observed = factsOf(batch, call)
  return observed && { ...observed, operation: { type: 'tool', ...observed.facts, args, attempt } }
}

function callOperation(batch: Batch, call: CallState, startedAt: number): Observed<CallOperation> | undefined {
  const observed = factsOf(batch, call)
  return observed && { ...observed, operation: { type: 'call', ...observed.facts, args: call.args, startedAt } }
}

function factsOf(batch: Batch, call: CallState) {
  const { operation: parent, agentName: agent } = batch
  const { observation } = batch.host.services
  const run = parent?.run ?? batch.bodyOf
  if (!run || !observation) return undefined
  const tool = entryFor(batch, call)?.tool
  const { description, effect } = tool ?? {}
  const links = call.requests.length ? call.requests.flatMap(({ request }) => request.trace ?? []) : NO_LINKS
  return {
    observation,
    facts: {
      run,
      parent,
      agent,
      tool: call.name,
      description,
      callId: call.id,
      effect: tool && (effect ?? 'atMostOnce'),
      links,
    },
  }
}

const NO_LINKS: readonly string[] = []

/** The outcome; with requests to a human, the trace context of the attempt that made them. */
function withTrace<T extends Prepared>({ observation, operation }: Observed<Operation>, outcome: T): T {
  if (outcome.type !== 'requesting') return outcome
  const trace = observation.traceOf(operation)
  return trace === undefined ? outcome : { ...outcome, trace }
}

function endOf({ host }: Batch, settled: Settled<Outcome>): OperationEnd {
  if ('value' in settled) return endOfOutcome(settled.value)
  return host.stop.stopped
    ? CANCELLED
    : { outcome: 'failed', errorCode: codeOfThrown(settled.error), error: settled.error }
}

/** The end of an attempt, whose result is not settled yet. */
function endOfAttempt({ host }: Batch, settled: Settled<unknown>): OperationEnd {
  if ('value' in settled) return { outcome: settled.value === SUSPENDED ? 'paused' : 'completed' }
  if (host.stop.stopped) return CANCELLED
  return { outcome: 'failed', errorCode: codeOfThrown(settled.error), error: settled.error }
}

/** The end of a call with this outcome. */
function endOfOutcome(outcome: Outcome): OperationEnd {
  if (outcome.type !== 'result') return { outcome: 'paused' }
  const { response: result, pending, denied } = outcome
  const { errorCode: code } = result
  const errorCode = typeof code === 'string' ? code : undefined
  if (result.status === 'unknown_outcome') return { outcome: 'unknown', errorCode, result }
  if (denied) return { outcome: 'denied', errorCode, result }
  if (pending) return { outcome: 'paused', result }
  if (!isFailure(result)) return { outcome: 'completed', result }
  return { outcome: errorCode === 'CANCELLED' ? 'cancelled' : 'failed', errorCode, result }
}

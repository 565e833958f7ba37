// Runs one call: policies, then the body with its signal, deadline and progress, then the callbacks.
// Nothing outside this file calls a tool's body.
import { yieldToTimers } from '../../core/base/ports.ts'
import { ToolError } from '../../core/error/error.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { keepParts } from '../context/result-parts.ts'
import type { PolicyCall } from '../tool/tool.ts'
import { startAttempt } from './attempts.ts'
import { editedArgs } from './confirm.ts'
import { shownMessage } from './hide-credentials.ts'
import { type Batch, type DispatchHost, SUSPENDED } from './host.ts'
import { observeAttempt } from './observe-call.ts'
import { callOnToolError, describeNullReturned, shownArgs } from './on-tool-error.ts'
import {
  AgentFailed,
  type AnsweredCall,
  type CallResult,
  failure,
  type Outcome,
  type ReadyCall,
  unknownOutcome,
} from './outcome.ts'
import { reportThrown } from './report-thrown.ts'
import { requestsFromBody } from './request-records.ts'
import type { ToolEntry } from './resolve.ts'
import { settle } from './settle.ts'
import { Timeout, type WaitOptions, waitFor } from './wait-with-deadline.ts'

/** How many yields are kept of a generator that returns nothing. */
const MAX_YIELDS = 10_000

/** After how many yields of a generator timers may run. */
const YIELDS_PER_TURN = 1_000

/** Runs a prepared call. Never rejects because of the tool: errors become results. Rejects when the run is stopped. */
export async function execute(batch: Batch, one: ReadyCall | AnsweredCall): Promise<Outcome> {
  const { host, hooks } = batch
  const { call, entry, context } = one
  try {
    let value: unknown
    let pending = false
    try {
      value = one.type === 'answered' ? one.value : runPolicies(batch, one)
      if (value instanceof Promise) value = await value
      if (one.type === 'ready' && isSteps(value)) value = await runSteps(batch, one, value) // a promise of a generator
      pending = one.type === 'ready' && context.longRunning && !call.isCode
    } catch (error) {
      if (host.stop.stopped) throw host.stop.stopped.reason
      if (one.type === 'ready' && hasRequested(one, error)) return await requestsFromBody(batch, one)
      const recovered = hooks.onToolError.length ? await callOnToolError(batch, one, one.args, error) : undefined
      if (!recovered) {
        reportThrown(host, error, { call, context })
        return withFailedAttempts(one, failureOf(one, error))
      }
      value = recovered.value
    }
    if (one.type === 'ready' && context.requested.length) return await requestsFromBody(batch, one) // the value and writes of the body are dropped
    if (value === SUSPENDED) return { type: 'suspended', call }
    if (hooks.afterTool.length) value = await callAfterTool(batch, one, value)
    if (host.stop.stopped) throw host.stop.stopped.reason
    if (value === WITHHELD) return withheld(call)
    const settled = settle({ host, call, entry, context, args: one.args, value, pending })
    let result = settled instanceof Promise ? await settled : settled
    if (result.actions?.skipSummarization) result = await batch.checkFinal(result)
    const problem = result.actions?.escalate ? batch.escalationProblem(entry.tool) : undefined
    if (problem !== undefined) return failure(call, 'NOT_FOUND', problem)
    result = withFailedAttempts(one, result)
    return call.requests.length ? withEditedArgs(one, result) : result
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    reportThrown(host, error, { call, context, step: 'A callback' })
    return failure(call, 'EXECUTION_FAILED', shownMessage(context, error))
  } finally {
    context.close()
  }
}

/** Did the body make a request and then throw? A body that timed out does not count: it may have taken effect. */
function hasRequested({ context }: Pick<ReadyCall, 'context'>, error: unknown): boolean {
  return context.requested.length > 0 && !(error instanceof Timeout)
}

/** Adds the failed attempts to the result of a call that had several attempts. */
function withFailedAttempts(one: ReadyCall | AnsweredCall, result: CallResult): CallResult {
  const attempts = one.type === 'ready' ? one.attempts : undefined
  return attempts && attempts.count > 1 ? { ...result, failedAttempts: attempts.failed } : result
}

/** Adds edited arguments to the response, so that the model knows them. */
function withEditedArgs({ call, entry }: ReadyCall | AnsweredCall, result: CallResult): CallResult {
  const edited = editedArgs(call, entry.tool)
  if (!edited) return result
  const { response, modelOutput } = result
  return {
    ...result,
    response: { ...response, editedArgs: edited },
    modelOutput: modelOutput && { ...modelOutput, response: { ...modelOutput.response, editedArgs: edited } },
  }
}

function runPolicies(batch: Batch, ready: ReadyCall): unknown {
  const { entry, args, context } = ready
  const policies = entry.tool.middleware
  if (!policies?.length) {
    // an attempt of its own is needed only when a callback may replace the failure: then the writes must be dropped
    const { beforeTool, onToolError } = batch.hooks
    return beforeTool.length || onToolError.length ? attempt(batch, ready, args) : runBody(batch, ready, args)
  }
  const run = async (at: number, call: PolicyCall): Promise<unknown> => {
    const policy = policies[at]
    if (policy) return await policy(call, (inner) => run(at + 1, inner))
    const onFailure = startAttempt(batch, ready, call.attempts)
    if (!batch.operation && !batch.bodyOf) return await attempt(batch, ready, call.args, onFailure)
    return await observeAttempt(batch, ready, call.args, () => attempt(batch, ready, call.args, onFailure))
  }
  const isResumed = entry.kind === 'agent' && batch.hasStarted(ready.call)
  // policies run without a deadline, because a policy may wait for a slot; cancelling the run ends the wait
  return waitFor(run(0, { tool: entry.tool, args, context, isResumed }), waitOf(batch, ready, undefined))
}

/** Runs the body with a context of its own. The writes of an attempt that fails or times out are dropped. */
async function attempt(
  batch: Batch,
  ready: ReadyCall,
  args: unknown,
  onFailure?: (error: unknown) => void,
): Promise<unknown> {
  const context = ready.context.attempt()
  try {
    let value = await runBody(batch, { ...ready, context }, args)
    if (isSteps(value)) value = await runSteps(batch, { ...ready, context }, value) // policies see results, not generators
    ready.context.adopt(context, true)
    return context.requested.length ? SUSPENDED : value // policies must not cache a value that is not a result
  } catch (error) {
    if (!hasRequested({ context }, error)) {
      onFailure?.(error)
      throw error
    }
    ready.context.adopt(context, false)
    return SUSPENDED
  } finally {
    context.close()
  }
}

function runBody(batch: Batch, ready: ReadyCall, args: unknown): unknown {
  // this process may have lost its lease: then the new holder may have run this call
  const checking = ready.entry.tool.effect === 'none' ? undefined : batch.host.recorder.checkLease()
  if (!checking) return runBodyNow(batch, ready, args)
  return checking.then(() => {
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason // cancelled: the call already has a response
    return runBodyNow(batch, ready, args)
  })
}

function runBodyNow(batch: Batch, ready: ReadyCall, args: unknown): unknown {
  const { entry, call, context } = ready
  if (entry.kind !== 'body') {
    const work = batch.runInScope({ entry, call, args, context })
    // a model that ignores its signal must not hold a policy's slot or cache key after the run is stopped
    return entry.tool.middleware?.length ? waitFor(work, waitOf(batch, ready, undefined)) : work
  }
  const out = entry.tool.run(args, context)
  if (typeof out !== 'object' || out === null) return out
  const timeoutMs = entry.tool.timeoutMs ?? batch.host.services.toolTimeoutMs
  if (isThenable(out)) return waitFor(out, waitOf(batch, ready, timeoutMs))
  if (isSteps(out)) return runSteps(batch, ready, out)
  return out
}

function runSteps(batch: Batch, ready: ReadyCall, steps: Steps): Promise<unknown> {
  const timeoutMs = ready.entry.tool.timeoutMs ?? batch.host.services.toolTimeoutMs
  return waitFor(
    drainSteps(batch.host, ready, steps),
    waitOf(batch, ready, timeoutMs, () => steps.return?.(undefined)),
  )
}

function waitOf(
  { host }: Batch,
  { call, context }: ReadyCall,
  timeoutMs: number | undefined,
  onAbandon?: () => unknown,
): WaitOptions {
  return { host, name: call.name, context, timeoutMs, onAbandon }
}

function isThenable(value: object): value is PromiseLike<unknown> {
  return value instanceof Promise || ('then' in value && typeof value.then === 'function')
}

function isSteps(value: unknown): value is Steps {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'
}

type Steps = (AsyncIterator<unknown, unknown> | Iterator<unknown, unknown>) & {
  return?(value: unknown): unknown
}

/**
 * Runs a generator body to its end. Yields are progress, the return value is the result. Without a return value the
 * yields are the result.
 */
async function drainSteps(
  { services: { ports } }: DispatchHost,
  { context }: ReadyCall,
  steps: Steps,
): Promise<unknown> {
  const yields: unknown[] = []
  for (let count = 1; ; count++) {
    // a generator that never waits would block its own deadline and every other run
    if (count % YIELDS_PER_TURN === 0) await yieldToTimers(ports)
    const step = await steps.next()
    if (step.done) {
      if (step.value !== undefined) return step.value
      if (yields.length === 0) return { status: 'completed' }
      return yields.length === 1 ? yields[0] : { results: yields }
    }
    const value = await step.value
    context.progress(value)
    if (yields.length < MAX_YIELDS) yields.push(value)
  }
}

function failureOf({ call, entry, context }: ReadyCall | AnsweredCall, error: unknown): CallResult {
  if (error instanceof Timeout) {
    const effect = entry.tool.effect ?? 'atMostOnce'
    const canRepeat = effect === 'none' || effect === 'idempotent'
    if (canRepeat && !error.mayHaveActed) return failure(call, 'TIMEOUT', `${error.message}. ${raiseTimeout(entry)}`)
    const problem = `${error.message} and may have taken effect. Check the outcome before you call it again.`
    return unknownOutcome(call, 'TIMEOUT', problem)
  }
  if (error instanceof ToolError && error.code === 'UNKNOWN_OUTCOME')
    return unknownOutcome(call, 'UNKNOWN_OUTCOME', shownMessage(context, error))
  const code = error instanceof ToolError ? error.code : 'EXECUTION_FAILED'
  const result = failure(call, code, shownMessage(context, error))
  return error instanceof AgentFailed ? { ...result, response: { text: error.text, ...result.response } } : result
}

function raiseTimeout({ kind }: ToolEntry): string {
  return kind === 'body' ? 'Raise timeoutMs or make the tool long-running.' : 'Raise timeoutMs.'
}

async function callAfterTool(batch: Batch, one: ReadyCall | AnsweredCall, result: unknown): Promise<unknown> {
  const { entry, context } = one
  const args = shownArgs(entry.tool, one.args)
  let value = result
  for (const hook of batch.hooks.afterTool) {
    const other = await hook({ tool: entry.tool, args, result: value, context })
    if (other === null) {
      batch.host.services.logger.error(describeNullReturned('afterTool', entry.tool.name, 'The result is withheld.'))
      return WITHHELD
    }
    if (other !== undefined) value = keepParts(value, other)
  }
  return value
}

const WITHHELD: unique symbol = Symbol('withheld')

/** The response when an `afterTool` callback returns null. The callback may mean to hide the result. */
function withheld(call: CallState): CallResult {
  const error = `The result of tool "${call.name}" is withheld: an afterTool callback returned null. The call is done; do not repeat it.`
  return failure(call, 'INVALID_RESULT', error)
}

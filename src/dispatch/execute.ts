// Runs one call: policies, then the body with its signal, deadline and progress, then the callbacks.
// Nothing outside this file calls a tool's body.
import { yieldToTimers } from '../base/ports.ts'
import { messageOf, ToolError } from '../error/error.ts'
import type { CallState } from '../event/call-state.ts'
import { keepParts } from '../tool/parts.ts'
import type { PolicyCall } from '../tool/tool.ts'
import { editedArgs } from './confirm.ts'
import { type Batch, type DispatchHost, SUSPENDED } from './host.ts'
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
import { requestsFromBody } from './request-records.ts'
import { settle } from './settle.ts'
import { Timeout, type WaitOptions, waitFor } from './wait.ts'

/** Yields kept of a generator that returns nothing. */
const MAX_YIELDS = 10_000

/** Yields of a generator before timers have a turn. */
const YIELDS_PER_TURN = 1_000

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
      if (one.type === 'ready' && hasRequested(one, error)) return await requestsFromBody(one)
      const recovered = hooks.onToolError.length ? await callOnToolError(batch, one, one.args, error) : undefined
      if (!recovered) return failureOf(one, error)
      value = recovered.value
    }
    if (one.type === 'ready' && context.questions.length) return await requestsFromBody(one) // its value and writes are dropped
    if (value === SUSPENDED) return { type: 'suspended', call }
    if (hooks.afterTool.length) value = await callAfterTool(batch, one, value)
    if (host.stop.stopped) throw host.stop.stopped.reason
    if (value === WITHHELD) return withheld(call)
    const settled = settle({ host, call, entry, context, args: one.args, value, pending })
    let result = settled instanceof Promise ? await settled : settled
    if (result.actions?.skipSummarization) result = await batch.checkFinal(result)
    return call.requests.length ? withEditedArgs(one, result) : result
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    return failure(call, 'EXECUTION_FAILED', messageOf(error))
  } finally {
    context.close()
  }
}

/** A body that asks may throw where the answer is missing; one that ran out of time may have acted. */
function hasRequested({ context }: Pick<ReadyCall, 'context'>, error: unknown): boolean {
  return context.questions.length > 0 && !(error instanceof Timeout)
}

/** The model is told of arguments that were not its own. */
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
    // whose writes are all dropped when it fails, unless a callback may save the call
    const { beforeTool, onToolError } = batch.hooks
    return beforeTool.length || onToolError.length ? attempt(batch, ready, args) : runBody(batch, ready, args)
  }
  const run = async (at: number, call: PolicyCall): Promise<unknown> => {
    const policy = policies[at]
    return await (policy ? policy(call, (inner) => run(at + 1, inner)) : attempt(batch, ready, call.args))
  }
  // a policy may wait for a slot: no deadline there, but cancellation reaches it
  const isResumed = entry.kind === 'agent' && batch.hasStarted(ready.call)
  return waitFor(run(0, { tool: entry.tool, args, context, isResumed }), waitOf(batch, ready, undefined))
}

/** Runs the body with a context of its own: an attempt that fails, or comes back too late, has written nothing. */
async function attempt(batch: Batch, ready: ReadyCall, args: unknown): Promise<unknown> {
  const context = ready.context.attempt()
  try {
    let value = await runBody(batch, { ...ready, context }, args)
    if (isSteps(value)) value = await runSteps(batch, { ...ready, context }, value) // policies see results, not generators
    ready.context.adopt(context)
    return context.questions.length ? SUSPENDED : value // what is no result must not be kept as one
  } catch (error) {
    if (!hasRequested({ context }, error)) throw error
    ready.context.adoptQuestions(context)
    return SUSPENDED
  } finally {
    context.close()
  }
}

function runBody(batch: Batch, ready: ReadyCall, args: unknown): unknown {
  // a process that stalled may have lost its session: the process that took it over may have run this call
  const checking = ready.entry.tool.effect === 'none' ? undefined : batch.host.recorder.checkLease()
  if (!checking) return runBodyNow(batch, ready, args)
  return checking.then(() => {
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason // cancelled meanwhile: the call has its response
    return runBodyNow(batch, ready, args)
  })
}

function runBodyNow(batch: Batch, ready: ReadyCall, args: unknown): unknown {
  const { entry, call, context } = ready
  if (entry.kind !== 'body') {
    const work = batch.runInScope({ entry, call, args, context })
    // a model inside that ignores its signal must not keep a policy's slot or cache key after the run was stopped
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
  onLeave?: () => unknown,
): WaitOptions {
  return { host, name: call.name, context, timeoutMs, onLeave }
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

/** Yields are progress, the return is the result; a generator that returns nothing answers with its yields. */
async function drainSteps(
  { services: { ports } }: DispatchHost,
  { context }: ReadyCall,
  steps: Steps,
): Promise<unknown> {
  const yields: unknown[] = []
  for (let count = 1; ; count++) {
    // one that never waits would keep its own deadline, and everybody else, from having a turn
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

function failureOf({ call, entry }: ReadyCall | AnsweredCall, error: unknown): CallResult {
  if (error instanceof Timeout) {
    const effect = entry.tool.effect ?? 'atMostOnce'
    const canRepeat = effect === 'none' || effect === 'idempotent'
    if (canRepeat && !error.mayHaveActed) return failure(call, 'TIMEOUT', error.message)
    return unknownOutcome(call, 'TIMEOUT', `${error.message} and may have taken effect`)
  }
  const result = failure(call, error instanceof ToolError ? error.code : 'EXECUTION_FAILED', messageOf(error))
  return error instanceof AgentFailed ? { ...result, response: { text: error.text, ...result.response } } : result
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

/** The callback may have meant to hide the result, so the model does not see it. */
function withheld(call: CallState): CallResult {
  const error = `The result of ${call.name} is withheld: an afterTool callback returned null. The call is done; do not repeat it.`
  return failure(call, 'INVALID_RESULT', error)
}

// One model call, from the request to the recorded reply.
import { kindOf } from '../../../core/base/kind-of.ts'
import { MAX_CONTENT_BYTES } from '../../../core/base/limits.ts'
import { yieldToTimers } from '../../../core/base/ports.ts'
import { type Content, partsSize } from '../../../core/content/content.ts'
import { type EventActions, type NewEntry, NO_ACTIONS } from '../../../core/event/event.ts'
import { repliesOf } from '../../../core/event/invocation-state.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import { longRunningIds, type ToolTable } from '../../dispatch/resolve.ts'
import type { LlmRequest } from '../../model/llm-request.ts'
import type { LlmResponse, Model } from '../../model/model.ts'
import { withRunnableCode } from '../code/code-parts.ts'
import { buildRequest } from '../request/build-request.ts'
import { acceptCalls, CallIds } from './accept-calls.ts'
import { checkAnswer, toolAnswerEvent } from './check-answer.ts'
import { endingEvent, modelErrorEvent } from './end-scope.ts'
import { afterModel, beforeModel, onModelError } from './model-callbacks.ts'
import { noteRecorded, type ObservedTurn, observeModel, type ReplyNotes } from './observe-model.ts'
import { isFinal, isReplyTooLarge, isResponse, replyEvent, withReplyMetadata } from './reply-event.ts'
import { type AgentTurn, type RecordedTurn, type RunHost, type ScopeFrame, untilStopped } from './run-host.ts'

/** Asks the model of an agent once and records its reply, or the error that ends the scope. */
export async function askModel(agentTurn: AgentTurn, tools: ToolTable | Promise<ToolTable>): Promise<void> {
  const { run, plan } = agentTurn
  const { hooks } = plan
  const turn = new ModelCall(agentTurn)
  const answer = plan.output === 'tool' ? await toolAnswerEvent(turn) : undefined
  const final = answer ?? limitEvent(turn)
  if (final) return await run.recorder.commit([{ event: final }])
  const ids = new CallIds(run) // from here on the call counts against the budget
  try {
    const table = tools instanceof Promise ? await tools : tools
    const built = buildRequest(turn, table)
    const request = built instanceof Promise ? await built : built
    const instead = hooks.beforeModel.length ? await beforeModel(turn, request) : undefined
    let reply =
      instead ??
      (await (agentTurn.frame.operation
        ? observeModel(turn, request, (notes) => generate(turn, request, ids, notes))
        : generate(turn, request, ids)))
    if (hooks.afterModel.length && !(reply instanceof ModelFailure)) reply = await afterModel(turn, reply)
    const made = reply instanceof ModelFailure ? failed(turn, reply.error) : entriesOf(turn, table, reply, ids)
    const entries = made instanceof Promise ? await made : made
    await run.recorder.commit(entries)
    if (turn.operation) noteRecorded(turn, entries)
  } finally {
    ids.close()
  }
}

/** One model call. Its context is created on first use: most agents have no callbacks. */
export class ModelCall implements RecordedTurn, ObservedTurn {
  readonly run: RunHost
  readonly plan: AgentTurn['plan']
  readonly frame: ScopeFrame
  repliedBy: string | undefined
  operation: ObservedTurn['operation']
  #context: RunCallbackContext | undefined

  constructor({ run, plan, frame }: AgentTurn) {
    this.run = run
    this.plan = plan
    this.frame = frame
  }
  get context(): RunCallbackContext {
    this.#context ??= new RunCallbackContext(this.run, this.plan.agent.name, this.frame.branch)
    return this.#context
  }
  takeActions(): EventActions | undefined {
    return this.#context?.take()
  }
}

/** The entries of a reply. */
function entriesOf(
  turn: ModelCall,
  table: ToolTable,
  response: LlmResponse,
  ids: CallIds,
): NewEntry[] | Promise<NewEntry[]> {
  const { run, plan } = turn
  const filled = acceptCalls(ids, response.content)
  const { codeExecutor } = plan.agent.options
  const content = codeExecutor ? withRunnableCode(run, ids, filled, codeExecutor.languages) : filled
  if (isReplyTooLarge(content, response)) return failed(turn, replyTooLarge(plan.model))
  if (plan.agent.output && isFinal(content, response)) return checkedEntries(turn, content, response)
  const event = replyEvent(turn, content, response)
  const longRunning = longRunningIds(table, content.parts)
  if (longRunning) event.longRunningToolIds = longRunning
  return [{ event }]
}

/** The entries of a final answer that has a schema: the answer, and a correction for the model if it does not fit. */
async function checkedEntries(turn: ModelCall, content: Content, response: LlmResponse): Promise<NewEntry[]> {
  const correction = await checkAnswer(turn, content)
  const event = replyEvent(turn, content, response)
  return correction ? [{ event }, { event: correction }] : [{ event }]
}

/** The entry of a failed model call. It ends the scope. */
function failed(turn: ModelCall, error: unknown): NewEntry[] {
  return [{ event: modelErrorEvent(turn, error) }]
}

function replyTooLarge(model: Model): Error {
  return new Error(
    `The reply of model "${model.name}" has more than ${MAX_CONTENT_BYTES} bytes and was not recorded. Limit its output, for example with maxOutputTokens.`,
  )
}

function streamTooLarge(model: Model): Error {
  return new Error(
    `The reply of model "${model.name}" has deltas of more than ${MAX_STREAM_BYTES} bytes and was not recorded; each delta counts at least ${MIN_DELTA_BYTES}. Limit its output, for example with maxOutputTokens.`,
  )
}

/** The event that is recorded instead of a model call when a limit is reached. */
function limitEvent(turn: AgentTurn): EventDraft | undefined {
  const { run, plan, frame } = turn
  const { agent } = plan
  // agents that run at the same time share the budget: model calls under way count like those in the log
  if (run.fold.replies + run.progress.replies.length >= run.maxLlmCalls) {
    const limit = `The run has used its ${run.maxLlmCalls} model calls. Raise runConfig.maxLlmCalls to allow more.`
    return endingEvent(run, agent.name, frame, { errorCode: 'MAX_LLM_CALLS', errorMessage: limit })
  }
  if (repliesOf(run.fold.scopes.get(frame.path), agent.name) < agent.maxIterations) return undefined
  const limit = `Agent "${agent.name}" has used its ${agent.maxIterations} model calls without an answer. Raise maxIterations to allow more.`
  return endingEvent(run, agent.name, frame, { errorCode: 'MAX_ITERATIONS', errorMessage: limit })
}

/** After this many partial responses of a model, timers get a turn. */
const RESPONSES_PER_TURN = 1_000

/** Most bytes of all deltas of one reply, also if no consumer reads them. The final response has its own limit. */
const MAX_STREAM_BYTES = 4 * MAX_CONTENT_BYTES
/** What a delta counts at least: an empty one costs time and memory, too. */
const MIN_DELTA_BYTES = 256

/** The error of a model call that no callback has replaced by a response. */
class ModelFailure {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** The final response of the model, or of `onModelError`. Deltas go to the consumer as they come. */
async function generate(
  turn: ModelCall,
  request: LlmRequest,
  ids: CallIds,
  notes?: ReplyNotes,
): Promise<LlmResponse | ModelFailure> {
  const { run, plan } = turn
  const { model } = plan
  const options = new GenerateOptions(run, turn.frame.path)
  let whole: LlmResponse | undefined
  let count = 0
  let bytes = 0
  try {
    for await (const response of model.generate(request, options)) {
      // a model that never awaits would block timers and cancellation
      if (++count % RESPONSES_PER_TURN === 0) await yieldToTimers(run.services.ports)
      notes?.noteDelta()
      if (run.stop.stopped) break
      if (!isResponse(response)) throw noResponse(model, response)
      bytes += sizeOfDelta(response)
      if (bytes > MAX_STREAM_BYTES) throw streamTooLarge(model)
      if (!response.partial) whole = response
      else if (options.stream) {
        const behind = run.recorder.emit(partialEvent(turn, acceptCalls(ids, response.content, true), response))
        if (behind) await untilStopped(run, behind) // the model's stream waits for the consumer
      }
    }
    if (whole) {
      turn.repliedBy = model.name
      return whole
    }
    throw new Error(`Model "${model.name}" yielded no final response. Its last response must not be partial.`)
  } catch (error) {
    if (run.stop.stopped) throw run.stop.stopped.reason
    notes?.noteFailure(error)
    return (await onModelError(turn, request, error)) ?? new ModelFailure(error)
  }
}

/** What a response counts: an adapter keeps the deltas for the final response, and an endless stream must not fill the memory. */
function sizeOfDelta({ partial, content }: LlmResponse): number {
  return partial && content ? Math.max(partsSize(content.parts, MAX_CONTENT_BYTES), MIN_DELTA_BYTES) : MIN_DELTA_BYTES
}

function noResponse(model: Model, value: unknown): Error {
  return new Error(
    `Model "${model.name}" yielded ${kindOf(value)} instead of a response. Yield for example { content: { role, parts } }.`,
  )
}

function partialEvent({ run, plan, frame }: AgentTurn, delta: Content, response: LlmResponse): EventDraft {
  const event = run.recorder.draft(plan.agent.name, frame, delta, NO_ACTIONS)
  withReplyMetadata(event, response)
  return event
}

/**
 * Creates the signal only if the model reads it. A class, because a getter in a literal would cost a hidden class per
 * call.
 */
export class GenerateOptions {
  readonly #run: RunHost
  /** Is the reply streamed? */
  readonly stream: boolean
  /** The scope path of the call: a model that replays a log finds its reply by it. */
  readonly path: string
  constructor(run: RunHost, path: string) {
    this.#run = run
    this.stream = run.runConfig.streaming === true
    this.path = path
  }
  /** Aborts when the run stops. */
  get signal(): AbortSignal {
    return this.#run.stop.signal
  }
}

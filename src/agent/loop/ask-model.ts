// One model call, from the request to the recorded reply.

import { jsonSize } from '../../base/json.ts'
import { keepShape } from '../../base/keep-shape.ts'
import { kindOf } from '../../base/kind-of.ts'
import { clip, MAX_CONTENT_BYTES } from '../../base/limits.ts'
import { toPlain } from '../../base/plain.ts'
import { nextTurn } from '../../base/ports.ts'
import { type Content, textOf } from '../../content/content.ts'
import { partsSize } from '../../content/parts-size.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import { longRunningIds, type ToolTable } from '../../dispatch/resolve.ts'
import { messageOf } from '../../error/error.ts'
import { codeCallOf } from '../../event/code-call.ts'
import type { EventErrorCode, NewEntry } from '../../event/event.ts'
import { repliesOf } from '../../event/fold.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { LlmResponse, Model } from '../../tool/model.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import type { Plan } from '../agents/agent-tree.ts'
import { codeParts } from '../code/code-parts.ts'
import { buildRequest } from '../request/build-request.ts'
import { CallIds } from './call-ids.ts'
import { isResponse, responseFrom } from './callback-result.ts'
import { answerByTool, checkAnswer } from './check-answer.ts'
import { type RunHost, type ScopeFrame, untilStopped } from './run-host.ts'

export async function askModel(
  run: RunHost,
  plan: Plan,
  frame: ScopeFrame,
  tools: ToolTable | Promise<ToolTable>,
): Promise<void> {
  const context = new RunCallbackContext(run, plan.agent.name, frame.branch)
  const answer = plan.output === 'tool' ? await answerByTool(run, plan, frame, context) : undefined
  const instead = answer ?? outOfBudget(run, plan, frame)
  if (instead) return await run.recorder.commit([{ event: instead }])
  const ids = new CallIds(run) // from here on the call counts
  try {
    await run.recorder.commit(await replyTo(run, plan, frame, tools, context, ids))
  } finally {
    ids.close() // the reply is in the log, or never will be
  }
}

/** What is recorded of one model call: the reply, or why there is none. */
async function replyTo(
  run: RunHost,
  plan: Plan,
  frame: ScopeFrame,
  tools: ToolTable | Promise<ToolTable>,
  context: RunCallbackContext,
  ids: CallIds,
): Promise<NewEntry[]> {
  const table = tools instanceof Promise ? await tools : tools
  const built = buildRequest(run, plan, frame, table, context)
  const request = built instanceof Promise ? await built : built
  let response = plan.hooks.beforeModel.length ? await before(plan, request, context) : undefined
  try {
    response ??= await generate(run, plan.model, request, plan.agent.name, frame, ids)
  } catch (error) {
    if (run.stop.stopped) throw run.stop.stopped.reason
    response = await recover(plan, request, error, context)
    if (!response) return [{ event: modelError(run, plan, frame, context, error) }]
  }
  if (plan.hooks.afterModel.length) response = await after(plan, response, context)
  const filled = ids.fill(response.content)
  const { codeExecutor } = plan.agent.options
  const content = codeExecutor ? codeParts(run, ids, filled, codeExecutor.languages) : filled
  if (isTooLarge(content, response)) {
    return [{ event: modelError(run, plan, frame, context, replyTooLarge(plan.model)) }]
  }
  const hasAnswer = plan.agent.output && isFinal(content, response)
  const unfit = hasAnswer ? await checkAnswer(run, plan, frame, context, content) : undefined
  const event = finalReply(run, plan, frame, context, content, response)
  const longRunning = longRunningIds(table, content.parts)
  if (longRunning) event.longRunningToolIds = longRunning
  return unfit ? [{ event }, { event: unfit }] : [{ event }]
}

/** Metadata counts too: it is recorded with the reply. */
function isTooLarge(content: Content, response: LlmResponse): boolean {
  if (partsSize(content.parts, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES) return true
  const { usageMetadata, groundingMetadata, citationMetadata, customMetadata, fallback } = response
  if (!usageMetadata && !groundingMetadata && !citationMetadata && !customMetadata && !fallback) return false
  const metadata = [usageMetadata, groundingMetadata, citationMetadata, customMetadata, fallback]
  return jsonSize(metadata, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES
}

function replyTooLarge(model: Model): Error {
  return new Error(
    `The reply of model "${model.name}" has more than ${MAX_CONTENT_BYTES} bytes and was not recorded. Limit its output.`,
  )
}

/** The event that takes the place of a model call nobody may make any more. */
function outOfBudget(run: RunHost, { agent }: Plan, frame: ScopeFrame): EventDraft | undefined {
  const scope = run.fold.scopes.get(frame.path)
  // agents that run at the same time share the budget: model calls under way count like those in the log
  if (run.fold.replies + run.progress.replies.length >= run.maxLlmCalls) {
    return ending(run, agent.name, frame, 'MAX_LLM_CALLS', `The run has used its ${run.maxLlmCalls} model calls.`)
  }
  if (repliesOf(scope, agent.name) >= agent.maxIterations) {
    const message = `Agent "${agent.name}" has used its ${agent.maxIterations} model calls without an answer.`
    return ending(run, agent.name, frame, 'MAX_ITERATIONS', message)
  }
  return undefined
}

/** The operator sees the whole error, the event has its message and what callbacks wrote. */
function modelError(
  run: RunHost,
  { agent }: Plan,
  frame: ScopeFrame,
  context: RunCallbackContext,
  error: unknown,
): EventDraft {
  run.services.logger.error(`The model of agent "${agent.name}" failed: ${messageOf(error)}`, error)
  const event = ending(run, agent.name, frame, 'MODEL_ERROR', messageOf(error))
  event.actions = context.take() ?? {}
  return event
}

/** Ends a scope with a reason. */
export function end(
  run: RunHost,
  author: string,
  frame: ScopeFrame,
  errorCode: EventErrorCode,
  errorMessage: string,
): Promise<void> {
  return run.recorder.commit([{ event: ending(run, author, frame, errorCode, errorMessage) }])
}

function ending(
  run: RunHost,
  author: string,
  frame: ScopeFrame,
  errorCode: EventErrorCode,
  errorMessage: string,
): EventDraft {
  const event = run.recorder.draft(author, frame, undefined, {})
  event.errorCode = errorCode
  event.errorMessage = clip(errorMessage)
  return event
}

async function before(plan: Plan, request: LlmRequest, context: RunCallbackContext): Promise<LlmResponse | undefined> {
  for (const hook of plan.hooks.beforeModel) {
    const response = responseFrom('beforeModel', plan.agent.name, await hook({ request, context }))
    if (response) return response
  }
  return undefined
}

/** Partial responses of a model before timers have a turn. */
const RESPONSES_PER_TURN = 1_000

/** Bytes of all deltas of one reply. A delta takes more than its text; the final response is measured by itself. */
const MAX_STREAM_BYTES = 4 * MAX_CONTENT_BYTES

async function generate(
  run: RunHost,
  model: Model,
  request: LlmRequest,
  author: string,
  frame: ScopeFrame,
  ids: CallIds,
): Promise<LlmResponse> {
  let whole: LlmResponse | undefined
  const options = new GenerateOptions(run)
  let count = 0
  let bytes = 0
  for await (const response of model.generate(request, options)) {
    // a model that never waits would keep timers and cancellation from having a turn
    if (++count % RESPONSES_PER_TURN === 0) await nextTurn(run.services.ports)
    if (run.stop.stopped) break
    if (!isResponse(response)) throw new Error(`Model "${model.name}" gave ${kindOf(response)}, which is no response.`)
    if (!response.partial) whole = response
    else if (options.stream) {
      // the model keeps the deltas for its final response: an endless stream must not fill the memory
      if (response.content) bytes += partsSize(response.content.parts, MAX_CONTENT_BYTES)
      if (bytes > MAX_STREAM_BYTES) throw replyTooLarge(model)
      const delta = ids.fill(response.content, true)
      const behind = run.recorder.emit(replyEvent(run, author, frame, delta, response, true))
      if (behind) await untilStopped(run, behind) // the model's stream waits for the consumer
    }
  }
  if (!whole) throw new Error(`Model "${model.name}" gave no final response.`)
  return whole
}

/** The signal is made when the model looks at it. (A getter in a literal would cost a hidden class for every call.) */
class GenerateOptions {
  readonly #run: RunHost
  readonly stream: boolean
  constructor(run: RunHost) {
    this.#run = run
    this.stream = run.runConfig.streaming === true
  }
  get signal(): AbortSignal {
    return this.#run.stop.signal
  }
}

async function recover(
  plan: Plan,
  request: LlmRequest,
  error: unknown,
  context: RunCallbackContext,
): Promise<LlmResponse | undefined> {
  for (const hook of plan.hooks.onModelError) {
    const response = responseFrom('onModelError', plan.agent.name, await hook({ request, error, context }))
    if (response) return response
  }
  return undefined
}

function isFinal(content: Content, { errorCode }: LlmResponse): boolean {
  const { parts } = content
  return (
    errorCode === undefined &&
    !parts.some((part, at) => part.functionCall || (part.executableCode && codeCallOf(parts, at)))
  )
}

async function after(plan: Plan, response: LlmResponse, context: RunCallbackContext): Promise<LlmResponse> {
  let last = response
  for (const hook of plan.hooks.afterModel) {
    last = responseFrom('afterModel', plan.agent.name, await hook({ response: last, context })) ?? last
  }
  return last
}

/** The reply with what follows from it: the output key, and what callbacks wrote. */
function finalReply(
  run: RunHost,
  { agent }: Plan,
  frame: ScopeFrame,
  context: RunCallbackContext,
  content: Content,
  response: LlmResponse,
): EventDraft {
  const { outputKey } = agent.options
  if (!agent.output && outputKey !== undefined && isFinal(content, response)) {
    context.state.set(outputKey, textOf(content))
  }
  const event = replyEvent(run, agent.name, frame, content, response, false)
  const grounding = run.fold.scopes.get(frame.path)?.grounding
  if (grounding) event.groundingMetadata ??= grounding
  const actions = context.take()
  if (actions) event.actions = actions
  return event
}

function replyEvent(
  run: RunHost,
  author: string,
  frame: ScopeFrame,
  content: Content,
  response: LlmResponse,
  partial: boolean,
): EventDraft {
  const event = run.recorder.draft(author, frame, content, {})
  if (partial) event.partial = true
  if (!partial) event.turnComplete = true
  if (response.interrupted !== undefined) event.interrupted = response.interrupted
  if (response.finishReason !== undefined) event.finishReason = clip(String(response.finishReason))
  if (response.usageMetadata !== undefined) event.usageMetadata = plainMetadata(response.usageMetadata)
  if (response.groundingMetadata !== undefined) event.groundingMetadata = plainMetadata(response.groundingMetadata)
  if (response.citationMetadata !== undefined) event.citationMetadata = plainMetadata(response.citationMetadata)
  if (response.customMetadata !== undefined) {
    event.customMetadata = { ...event.customMetadata, ...plainMetadata(response.customMetadata) }
  }
  if (response.fallback !== undefined) event.fallback = plainMetadata(response.fallback)
  if (response.errorCode !== undefined && !partial) {
    event.errorCode = clip(String(response.errorCode))
    if (response.errorMessage !== undefined) event.errorMessage = clip(String(response.errorMessage))
  }
  return event
}

/** As JSON: one value that a store cannot hold must not cost the whole reply. */
function plainMetadata<T extends object>(metadata: T): T {
  return toPlain(metadata).value as T
}

keepShape(() => new GenerateOptions({ runConfig: {} } as RunHost))

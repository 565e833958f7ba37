// One model call, from the request to the recorded reply.

import { isDeeperThan, isRecord, type JsonObject } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'
import type { Content, FunctionCall, Part } from '../content/content.ts'
import { textOf } from '../content/content.ts'
import type { Draft } from '../dispatch/host.ts'
import { MAX_ARGS_DEPTH } from '../dispatch/prepare.ts'
import type { ToolTable } from '../dispatch/resolve.ts'
import { messageOf } from '../error/error.ts'
import type { EventErrorCode } from '../event/event.ts'
import { repliesOf } from '../event/fold.ts'
import { describeIssues } from '../schema/parsed.ts'
import { RunCallbackContext } from '../tool/callback-context.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import { finalAnswer, MAX_CORRECTIONS, parseAnswer, SET_MODEL_RESPONSE, wrongAnswers } from './final-answer.ts'
import { buildRequest } from './request.ts'
import type { Place, RunHost } from './run-host.ts'
import type { Plan } from './tree.ts'

export async function askModel(
  run: RunHost,
  plan: Plan,
  place: Place,
  tools: ToolTable | Promise<ToolTable>,
): Promise<void> {
  const { agent } = plan
  const scope = run.fold.scopes.get(place.path)
  const context = new RunCallbackContext(run, agent.name, place.branch)
  const answer = plan.output === 'tool' ? finalAnswer(scope) : undefined
  if (answer) return await giveAnswer(run, plan, place, context, answer.value)
  const wrong = plan.output === 'tool' ? wrongAnswers(run.fold, place.path) : []
  if (wrong.length + (scope?.corrections ?? 0) > MAX_CORRECTIONS) {
    return await run.commit([{ event: invalidOutput(run, plan, place, String(wrong.at(-1))) }])
  }
  if (run.fold.replies >= run.maxLlmCalls) {
    return await end(run, agent.name, place, 'MAX_LLM_CALLS', `The run has used its ${run.maxLlmCalls} model calls.`)
  }
  if (repliesOf(scope, agent.name) >= agent.maxIterations) {
    const message = `Agent "${agent.name}" has used its ${agent.maxIterations} model calls without an answer.`
    return await end(run, agent.name, place, 'MAX_ITERATIONS', message)
  }
  const built = buildRequest(run, plan, place, tools instanceof Promise ? await tools : tools, context)
  const request = built instanceof Promise ? await built : built
  const ids = new CallIds(run)
  let response = plan.hooks.beforeModel.length ? await before(plan, request, context) : undefined
  try {
    response ??= await generate(run, plan.model, request, agent.name, place, ids)
  } catch (error) {
    if (run.stopped) throw run.stopped.reason
    const recovered = await recover(plan, request, error, context)
    if (!recovered) {
      run.logger.error(`The model of agent "${agent.name}" failed: ${messageOf(error)}`, error)
      return await end(run, agent.name, place, 'MODEL_ERROR', messageOf(error))
    }
    response = recovered
  }
  for (const hook of plan.hooks.afterModel) response = (await hook({ response, context })) ?? response
  const content = ids.fill(response.content)
  const unfit = agent.output && isFinal(content, response) ? await check(run, plan, place, context, content) : undefined
  if (!agent.output && agent.options.outputKey !== undefined && isFinal(content, response)) {
    context.state.set(agent.options.outputKey, textOf(content))
  }
  const event = replyEvent(run, agent.name, place, content, response, false)
  const actions = context.take()
  if (actions) event.actions = actions
  await run.commit(unfit ? [{ event }, { event: unfit }] : [{ event }])
}

/** Ends a scope with a reason. */
export async function end(
  run: RunHost,
  author: string,
  place: Place,
  errorCode: EventErrorCode,
  errorMessage: string,
): Promise<void> {
  const event = run.draft(author, place, undefined, {})
  event.errorCode = errorCode
  event.errorMessage = errorMessage
  await run.commit([{ event }])
}

async function before(plan: Plan, request: LlmRequest, context: RunCallbackContext): Promise<LlmResponse | undefined> {
  for (const hook of plan.hooks.beforeModel) {
    const response = await hook({ request, context })
    if (response) return response
  }
  return undefined
}

async function generate(
  run: RunHost,
  model: Model,
  request: LlmRequest,
  author: string,
  place: Place,
  ids: CallIds,
): Promise<LlmResponse> {
  let whole: LlmResponse | undefined
  const options = new GenerateOptions(run)
  for await (const response of model.generate(request, options)) {
    if (run.stopped) break
    if (!response.partial) whole = response
    else if (options.stream) run.emit(replyEvent(run, author, place, ids.fill(response.content, true), response, true))
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
    return this.#run.signal
  }
}

async function recover(
  plan: Plan,
  request: LlmRequest,
  error: unknown,
  context: RunCallbackContext,
): Promise<LlmResponse | undefined> {
  for (const hook of plan.hooks.onModelError) {
    const response = await hook({ request, error, context })
    if (response) return response
  }
  return undefined
}

function isFinal(content: Content, { errorCode }: LlmResponse): boolean {
  return errorCode === undefined && !content.parts.some((part) => part.functionCall)
}

/** Reads a structured answer; one that does not fit gives the event that says so. */
async function check(
  run: RunHost,
  plan: Plan,
  place: Place,
  context: RunCallbackContext,
  content: Content,
): Promise<Draft | undefined> {
  const { output, options } = plan.agent
  const parsed = output ? await parseAnswer(output, textOf(content)) : { value: undefined }
  if (parsed.issues) return correction(run, plan, place, describeIssues(parsed.issues))
  if (options.outputKey !== undefined) context.state.set(options.outputKey, parsed.value)
  return undefined
}

/** Told to the model in its next request, or the end when it was told often enough. */
function correction(run: RunHost, plan: Plan, place: Place, problem: string): Draft {
  const { agent, output } = plan
  const wrong = output === 'tool' ? wrongAnswers(run.fold, place.path).length : 0
  const told = wrong + (run.fold.scopes.get(place.path)?.corrections ?? 0)
  if (told >= MAX_CORRECTIONS) return invalidOutput(run, plan, place, problem)
  const how = output === 'tool' ? `Call ${SET_MODEL_RESPONSE} with your answer.` : 'Answer again, with JSON only.'
  const text = `Your answer does not have the required form: ${problem}. ${how}`
  return run.draft(agent.name, place, { role: 'user', parts: [{ text }] }, {})
}

function invalidOutput(run: RunHost, { agent }: Plan, place: Place, problem: string): Draft {
  const event = run.draft(agent.name, place, undefined, {})
  event.errorCode = 'INVALID_OUTPUT'
  event.errorMessage = `The answer of agent "${agent.name}" does not fit its outputSchema: ${problem}`
  return event
}

/** An answer given with the tool, said as text so that everybody finds it in the same place. */
async function giveAnswer(
  run: RunHost,
  { agent }: Plan,
  place: Place,
  context: RunCallbackContext,
  value: unknown,
): Promise<void> {
  if (agent.options.outputKey !== undefined) context.state.set(agent.options.outputKey, value)
  const text = JSON.stringify(value)
  const event = run.draft(agent.name, place, { role: 'model', parts: [{ text }] }, context.take() ?? {})
  await run.commit([{ event }])
}

function replyEvent(
  run: RunHost,
  author: string,
  place: Place,
  content: Content,
  response: LlmResponse,
  partial: boolean,
): Draft {
  const event = run.draft(author, place, content, {})
  if (partial) event.partial = true
  if (response.turnComplete !== undefined) event.turnComplete = response.turnComplete
  if (response.interrupted !== undefined) event.interrupted = response.interrupted
  if (response.finishReason !== undefined) event.finishReason = response.finishReason
  if (response.usageMetadata !== undefined) event.usageMetadata = response.usageMetadata
  if (response.groundingMetadata !== undefined) event.groundingMetadata = response.groundingMetadata
  if (response.citationMetadata !== undefined) event.citationMetadata = response.citationMetadata
  if (response.customMetadata !== undefined) {
    event.customMetadata = { ...event.customMetadata, ...response.customMetadata }
  }
  if (response.errorCode !== undefined && !partial) {
    event.errorCode = response.errorCode
    if (response.errorMessage !== undefined) event.errorMessage = response.errorMessage
  }
  return event
}

/** An object that can be stored; dispatch refuses what had to be cut. */
function fitArgs(args: unknown): JsonObject {
  if (!isRecord(args)) return {}
  return isDeeperThan(MAX_ARGS_DEPTH, args) ? (toPlain(args).value as JsonObject) : args
}

/** Gives calls the ids they lack; the deltas of a reply and the whole have the same ones. */
class CallIds {
  readonly #run: RunHost
  #given: string[] | undefined
  /** Calls in the deltas so far. */
  #streamed = 0
  constructor(run: RunHost) {
    this.#run = run
  }
  fill(content: Content | undefined, isDelta = false): Content {
    if (!content) return { role: 'model', parts: [] }
    let calls = isDelta ? this.#streamed : 0
    let filled: Part[] | undefined // most replies are fit as they are
    for (const [at, part] of content.parts.entries()) {
      const fit = part.functionCall ? this.#fillOne(part, part.functionCall, calls++) : part
      if (fit === part) continue
      filled ??= [...content.parts]
      filled[at] = fit
    }
    if (isDelta) this.#streamed = calls
    if (filled) return { role: 'model', parts: filled }
    return content.role === 'model' ? content : { role: 'model', parts: content.parts }
  }
  #fillOne(part: Part, call: FunctionCall, at: number): Part {
    const id: unknown = call.id
    const name = String(call.name)
    const args = fitArgs(call.args)
    const fit = typeof id === 'string' && id !== '' && !/[/@]/.test(id) && this.#isNew(id) && this.#isFree(id, at)
    this.#given ??= []
    const given = (fit ? id : undefined) ?? this.#given[at] ?? this.#run.newCallId()
    this.#given[at] = given
    if (given === id && name === call.name && args === call.args) return part
    return { ...part, functionCall: { ...call, id: given, name, args } }
  }
  /** Ids name a call in its invocation, and an answer to it in its session. */
  #isNew(id: string): boolean {
    return !this.#run.fold.calls.has(id) && !this.#run.view.isOpenElsewhere(id)
  }
  #isFree(id: string, at: number): boolean {
    const before = this.#given?.indexOf(id) ?? -1
    return before < 0 || before === at
  }
}

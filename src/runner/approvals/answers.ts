// Answers to what an invocation waits for: found by id, checked, and written down in one form.
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'
import type { Content, FunctionResponse, Part } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { CallState, RequestState } from '../../event/call-state.ts'
import { choiceIn, decisionOf, declinedIn, findUnusableField, inputOf } from '../../event/decision.ts'
import type { Request } from '../../event/event.ts'
import type { Fold } from '../../event/fold.ts'
import { isRequestName, REQUEST_NAMES } from '../../event/request-names.ts'
import { compileSchema } from '../../schema/compile.ts'
import { listIssues } from '../../schema/issues.ts'

/** A message of answers, as it is recorded. */
export interface Answers {
  readonly fold: Fold
  readonly message: Content
  /** Every one of them had been given before, in the same words. */
  readonly isRepeat: boolean
  /** Some are results of long-running calls. */
  readonly hasResults: boolean
  /** Is each still waited for? Asked again right before they are recorded. */
  isAwaited(): boolean
}

/** What answers are judged by. */
export interface AnswerContext {
  /** The invocations that may have asked. */
  readonly folds: readonly Fold[]
  /** In milliseconds. */
  readonly now: number
  /** The last sequence number when the answers arrived: they count for no request that was recorded later. */
  readonly asOf: number
  /** Long-running work posted them, not a client: none of them repeats an answer. */
  readonly isResult?: boolean
  /** Did a client give the result of this call? */
  wasGiven(callId: string): boolean
}

/** All of one invocation, each to something that is known; anything else is an error and nothing is recorded. */
export async function readAnswers({ parts }: Content, context: AnswerContext): Promise<Answers> {
  const { now, wasGiven } = context
  let owner: Fold | undefined
  let repeats = 0
  const answers: Part[] = []
  const answered = new Set<unknown>()
  const all: Found[] = []
  for (const { functionResponse: answer } of parts) {
    if (!answer) throw new ToolwrightError('INVALID_REQUEST', 'A message holds answers or something new, not both.')
    const given = asObject(answer.response)
    const found = find(context, answer, given)
    all.push(found)
    owner ??= found.fold
    if (owner !== found.fold) {
      throw new ToolwrightError('INVALID_REQUEST', 'The answers belong to different invocations: send them one by one.')
    }
    const what = found.asked ?? found.call
    if (answered.has(what))
      throw new ToolwrightError('INVALID_REQUEST', `"${answer.id}" is answered twice in one message.`)
    answered.add(what)
    const response = found.asked?.request.kind === 'input' ? await asInput(found.asked, given) : given
    if (found.asked ? isRepeat(found, found.asked, response) : isResultRepeated(found, response, wasGiven)) repeats++
    else if (found.asked) await check(found.asked, response, now)
    else checkChoice(found.call, answer, response)
    answers.push({ functionResponse: cleaned(answer, response, found) })
  }
  if (repeats > 0 && repeats < answers.length) {
    throw new ToolwrightError('ALREADY_ANSWERED', 'Some of the answers were given before: send only the others.')
  }
  const isAwaited = (): boolean => all.every(isOpen)
  const hasResults = all.some(({ asked }) => !asked)
  return {
    fold: owner as Fold,
    message: { role: 'user', parts: answers },
    isRepeat: repeats > 0,
    hasResults,
    isAwaited,
  }
}

function isOpen({ fold, call, asked }: Found): boolean {
  if (!asked) return call.pending && fold.isOpen(call)
  return asked.answer === undefined && asked.denied === undefined && fold.isOpen(call)
}

interface Found {
  readonly fold: Fold
  readonly call: CallState
  /** The question; undefined when it is the result of a long-running call. */
  readonly asked: RequestState | undefined
}

/** By the id of the request, or of the call when it waits for one thing only. */
function find({ folds, asOf, isResult }: AnswerContext, { id = '', name }: FunctionResponse, given: JsonObject): Found {
  for (const fold of folds) {
    const asked = fold.request(id)
    const call = fold.calls.get(asked?.request.callId ?? id)
    if (asked && call) return notBefore({ fold, call, asked }, id, asOf)
    if (!call) continue
    if (call.requests.length === 1 && !call.pending) {
      return notBefore({ fold, call, asked: call.requests[0] }, id, asOf)
    }
    // the same words may be a retry of an answer to an earlier question: they must not answer the next one
    if (call.requests.length > 1 && !call.pending) {
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `Call "${id}" has had several questions: use the ids of its requests.`,
      )
    }
    const repeated = isResult ? undefined : requestAnsweredWith(call, given)
    if (repeated && name !== undefined && isRequestName(name)) return { fold, call, asked: repeated }
    // a retry of the approval must not become the result of the work that the approval started
    if (repeated && call.pending) {
      const problem = `The result of call "${id}" reads like the answer to its request "${repeated.request.id}"`
      throw new ToolwrightError('INVALID_REQUEST', `${problem}: send it as { result: ... }, or with another field.`)
    }
    if (call.pending || call.response) return notBefore({ fold, call, asked: undefined }, id, asOf)
  }
  throw nothingPending(id)
}

/** The request of the call that was answered in these words. */
function requestAnsweredWith({ requests }: CallState, given: JsonObject): RequestState | undefined {
  if (requests.length === 0) return undefined
  const words = canonicalJson(given)
  return requests.find(({ answer }) => answer !== undefined && canonicalJson(answer) === words)
}

/** An answer that arrived before its request was sent by a client that had not seen the request: it decides nothing. */
function notBefore(found: Found, id: string, asOf: number): Found {
  const since = found.asked ? found.asked.seq : found.call.pendingSince
  if (since <= asOf) return found
  throw new ToolwrightError(
    'NOT_FOUND',
    `Nothing was pending under the id "${id}" when the answer arrived. Read runner.pending() and answer again.`,
  )
}

/** The same words again change nothing; other words come too late. */
function isRepeat({ fold, call }: Found, { request, answer, denied }: RequestState, response: JsonObject): boolean {
  if (denied !== undefined) throw new ToolwrightError('EXPIRED', `Request "${request.id}" has expired.`)
  if (answer === undefined) {
    if (fold.isOpen(call)) return false
    throw nothingPending(request.id) // cancelled, or control moved on: the call has its response
  }
  if (canonicalJson(answer) === canonicalJson(response)) return true
  throw new ToolwrightError(
    'ALREADY_ANSWERED',
    `Request "${request.id}" already has a different answer. The first answer counts.`,
  )
}

/** A call that was answered by nobody outside has nothing to be repeated. */
function isResultRepeated(found: Found, response: JsonObject, wasGiven: (callId: string) => boolean): boolean {
  const { call } = found
  if (isOpen(found)) return false
  if (call.pending || !wasGiven(call.id)) throw nothingPending(call.id)
  if (call.response && canonicalJson(call.response.response) === canonicalJson(response)) return true
  throw new ToolwrightError('ALREADY_ANSWERED', `Call "${call.id}" has its result already.`)
}

async function check({ request }: RequestState, response: JsonObject, now: number): Promise<void> {
  if (request.expiresAt !== undefined && now / 1000 >= request.expiresAt) {
    throw new ToolwrightError('EXPIRED', `Request "${request.id}" has expired.`)
  }
  if (request.kind === 'confirmation') return await checkEdited(request, response)
  if (declinedIn(response)) return
  const wrong = await misfit(request, inputOf(response))
  if (wrong) throw new ToolwrightError('INVALID_REQUEST', `The answer does not fit the question: ${wrong}.`)
}

/** An approval runs what was shown, or arguments the approver edited where the tool allows it. Never half of either. */
async function checkEdited(request: Request, response: JsonObject): Promise<void> {
  const { confirmed, args } = decisionOf(response)
  if (!confirmed) return
  const dropped = findUnusableField(response, request.args)
  if (dropped !== undefined) {
    throw new ToolwrightError('INVALID_REQUEST', `The approval of request "${request.id}" cannot be read: ${dropped}.`)
  }
  if (!args) return
  if (!request.editable) {
    const instead = 'approve it as it is, or deny it'
    throw new ToolwrightError('INVALID_REQUEST', `Request "${request.id}" takes no edited arguments: ${instead}.`)
  }
  const wrong = await misfit(request, args)
  if (wrong) throw new ToolwrightError('INVALID_REQUEST', `The edited arguments do not fit: ${wrong}.`)
}

/** What is wrong with a value, by the schema that was given with the question. */
async function misfit({ id, schema }: Request, value: unknown): Promise<string | undefined> {
  if (!schema) return undefined
  const { issues } = await compileSchema(schema, `Request "${id}"`, { lenient: true }).parse(value)
  return issues && listIssues(issues, ({ path, expected }) => `${path || 'it'} must be ${expected}`)
}

/** In the one form it is recorded in: `{ result }`, or a no. An object that fits as it is stands for itself. */
async function asInput({ request }: RequestState, given: JsonObject): Promise<JsonObject> {
  const fits = request.schema !== undefined && (await misfit(request, given)) === undefined
  if (fits) return { result: given }
  return declinedIn(given) ? given : { result: inputOf(given) }
}

/** A handle that waits for one of its options takes nothing else. */
function checkChoice(call: CallState, { willContinue }: FunctionResponse, response: JsonObject): void {
  const { options } = choiceIn(call.response?.response) ?? {}
  if (!options) return
  const [choice, ...more] = Object.values(response)
  if (more.length === 0 && options.includes(choice) && !willContinue) return
  throw new ToolwrightError('INVALID_REQUEST', `"${call.id}" is answered with one of: ${options.join(', ')}.`)
}

function nothingPending(id: string): ToolwrightError {
  return new ToolwrightError('NOT_FOUND', `Nothing is pending under the id "${id}".`)
}

function asObject(response: unknown): JsonObject {
  return isRecord(response) ? response : { result: response ?? null }
}

function cleaned({ willContinue }: FunctionResponse, response: JsonObject, { call, asked }: Found): FunctionResponse {
  if (asked) return { id: asked.request.id, name: REQUEST_NAMES[asked.request.kind], response }
  const { id, name } = call
  return willContinue === true ? { id, name, response, willContinue } : { id, name, response }
}

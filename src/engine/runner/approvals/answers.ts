// Answers to pending requests, and results of long-running calls: matched by id, validated, and normalised for the log.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import { clip, MAX_NAME_LENGTH } from '../../../core/base/limits.ts'
import type { Content, FunctionResponse, Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import {
  choiceIn,
  consentIn,
  decisionOf,
  declinedIn,
  findUnusableField,
  hintIn,
  inputOf,
  isSameDecision,
  REPEATED,
  recordDecision,
  recordDecline,
} from '../../../core/event/decision.ts'
import type { RequestRecord } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { CallState, RequestState } from '../../../core/event/invocation-state.ts'
import { REQUEST_NAMES, REQUEST_PREFIX } from '../../../core/event/request-names.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { listIssues } from '../../../core/schema/issues.ts'
import { findUnknownField } from './unknown-field.ts'

/** The validated answers of one message. */
export interface Answers {
  /** The fold of the invocation that the answers belong to. */
  readonly fold: Fold
  /** The answers in the form in which they are recorded. */
  readonly message: Content
  /** Whether all of them repeat recorded answers. */
  readonly isRepeat: boolean
  /** Whether some are results of long-running calls. */
  readonly hasResults: boolean
  /** Are all answered requests and calls still pending? Checked again right before the answers are recorded. */
  areAllPending(): boolean
}

/** What answers are validated against. */
export interface AnswerContext {
  /** The invocations whose requests and calls may be answered. */
  readonly folds: readonly Fold[]
  /** The current time in milliseconds. */
  readonly now: number
  /** The last sequence number when the answers arrived: they cannot answer a request that was recorded later. */
  readonly asOf: number
  /** Whether the answers are the result of a call that its body or the developer's code posted, not a client. Such a result never repeats an answer. */
  readonly isResult?: boolean
  /** Did a client send the result of this call? */
  hasClientResult(callId: string): boolean | Promise<boolean>
  /** The question about edited arguments, recorded with their approval. Undefined when the answers are only checked. */
  questionFor?: QuestionFor | undefined
}

/** Computes the question about edited arguments of a call. */
export type QuestionFor = (fold: Fold, call: CallState, args: JsonObject) => Promise<{ readonly hint: string }>

/** Reads a message of answers, all of one invocation. Throws if one is invalid, so that none is recorded. */
export async function readAnswers({ parts }: Content, context: AnswerContext): Promise<Answers> {
  const { now, hasClientResult } = context
  let owner: Fold | undefined
  let repeats = 0
  const answers: Part[] = []
  const answered = new Set<unknown>()
  const targets: AnswerTarget[] = []
  for (const { functionResponse: answer } of parts) {
    if (!answer)
      throw invalid('A message cannot mix answers with other parts. Send the answers in a message of their own.')
    const sent = toResponseObject(answer.response)
    const target = findTarget(context, answer, sent)
    const { fold, call, requestState } = target
    targets.push(target)
    owner ??= fold
    if (owner !== fold) throw invalid('The answers belong to different invocations. Send one message per invocation.')
    if (answered.has(requestState ?? call)) {
      throw invalid(`"${answer.id}" is answered twice in one message. Send one answer per request or call.`)
    }
    answered.add(requestState ?? call)
    let response = requestState?.request.kind === 'input' ? await toInputResponse(requestState, sent) : sent
    const isRepeat = requestState
      ? isRepeatedAnswer(target, requestState, response)
      : await isRepeatedResult(target, response, hasClientResult)
    if (isRepeat) repeats++
    else if (requestState) {
      await checkAnswer(requestState, { ...answer, response }, now)
      if (requestState.request.kind === 'confirmation')
        response = await toDecision(target, requestState, response, context)
    } else checkChoice(call, answer, response)
    answers.push({ functionResponse: toFunctionResponse(answer, response, target) })
  }
  if (repeats > 0 && repeats < answers.length) {
    throw new ToolwrightError(
      'ALREADY_ANSWERED',
      'Some of these answers are already recorded. Send only the answers to requests that runner.pending() lists.',
    )
  }
  return {
    fold: owner as Fold,
    message: { role: 'user', parts: answers },
    isRepeat: repeats > 0,
    hasResults: targets.some(({ requestState }) => !requestState),
    areAllPending: () => targets.every(isPending),
  }
}

function isPending({ fold, call, requestState }: AnswerTarget): boolean {
  if (!requestState) return call.pending && fold.isOpen(call)
  return requestState.answer === undefined && requestState.denied === undefined && fold.isOpen(call)
}

/** The request or call that an answer belongs to. */
interface AnswerTarget {
  readonly fold: Fold
  readonly call: CallState
  /** The answered request; undefined when the answer is the result of a long-running call. */
  readonly requestState: RequestState | undefined
}

/** Finds the target by the id of the request, or by the id of the call when the call has one request or awaits its result. */
function findTarget(
  { folds, asOf, isResult }: AnswerContext,
  { id = '', name }: FunctionResponse,
  sent: JsonObject,
): AnswerTarget {
  for (const fold of folds) {
    const requestState = isResult ? undefined : fold.request(id)
    const call = fold.calls.get(requestState?.request.callId ?? id)
    if (isResult && call && !call.pending) throw notPendingError(id)
    if (requestState && call) return checkRecordedBefore({ fold, call, requestState }, id, asOf)
    if (!call) continue
    if (call.requests.length === 1 && !call.pending) {
      return checkRecordedBefore({ fold, call, requestState: call.requests[0] }, id, asOf)
    }
    // by the id of the call, a retried answer to an earlier request could answer the next request
    if (call.requests.length > 1 && !call.pending) {
      throw invalid(`Call "${id}" has several requests. Answer with the request ids that runner.pending() lists.`)
    }
    const repeated = isResult ? undefined : requestAnsweredWith(call, sent)
    if (repeated && name?.startsWith(REQUEST_PREFIX)) return { fold, call, requestState: repeated }
    // an approval that a client sends twice must not become the result of the long-running call it approved
    if (repeated && call.pending) {
      const problem = `The result of call "${id}" equals the recorded answer to its request "${repeated.request.id}"`
      throw invalid(`${problem} and may be a retry of it. Send the result as { result: ... }, or add another field.`)
    }
    if (call.pending && call.background && !isResult) throw runsInBackground(call)
    if (name === REQUEST_NAMES.credential) throw notPendingError(id) // never the result of the call
    if (call.pending || call.response) return checkRecordedBefore({ fold, call, requestState: undefined }, id, asOf)
  }
  throw notPendingError(id)
}

/** The request of the call whose recorded answer equals this response. */
function requestAnsweredWith({ requests }: CallState, response: JsonObject): RequestState | undefined {
  return requests.find((one) => hasAnswer(one, response))
}

/** Is this response the recorded answer? The outcome of a consent stands for every code, because no code is recorded. */
function hasAnswer({ request, answer }: RequestState, response: JsonObject): boolean {
  if (answer === undefined) return false
  if (request.kind === 'credential' && response.status === REPEATED && consentIn(answer)) return true
  if (request.kind === 'confirmation') return isSameDecision(answer, response)
  return canonicalJson(answer) === canonicalJson(response)
}

/** Rejects an answer that arrived before its request was recorded: its client has not seen the request. */
function checkRecordedBefore(target: AnswerTarget, id: string, asOf: number): AnswerTarget {
  const since = target.requestState ? target.requestState.seq : target.call.pendingSince
  if (since <= asOf) return target
  throw new ToolwrightError(
    'NOT_FOUND',
    `No request with id "${id}" was pending when the answer arrived. Call runner.pending() and answer a listed request.`,
  )
}

/** Does the response equal the recorded answer? Throws if the request has another answer, or can no longer be answered. */
function isRepeatedAnswer({ fold, call }: AnswerTarget, requestState: RequestState, response: JsonObject): boolean {
  const { request, answer, denied } = requestState
  if (denied !== undefined) throw expiredError(request)
  if (answer === undefined) {
    if (fold.isOpen(call)) return false
    throw notPendingError(request.id) // the call was cancelled, or got its response otherwise
  }
  if (hasAnswer(requestState, response)) return true
  throw new ToolwrightError(
    'ALREADY_ANSWERED',
    `Request "${request.id}" already has a different answer. The first answer counts.`,
  )
}

/** Does the response equal the recorded result? Only a result that a client sent can be repeated. */
async function isRepeatedResult(
  target: AnswerTarget,
  response: JsonObject,
  hasClientResult: AnswerContext['hasClientResult'],
): Promise<boolean> {
  const { call } = target
  if (isPending(target)) return false
  if (call.pending || !(await hasClientResult(call.id))) throw notPendingError(call.id)
  if (call.response && canonicalJson(call.response.response) === canonicalJson(response)) return true
  throw new ToolwrightError(
    'ALREADY_ANSWERED',
    `Call "${call.id}" already has a different result. The first result counts.`,
  )
}

async function checkAnswer(
  { request }: RequestState,
  { name, response }: FunctionResponse,
  now: number,
): Promise<void> {
  if (request.expiresAt !== undefined && now / 1000 >= request.expiresAt) throw expiredError(request)
  if (name === REQUEST_NAMES.credential && request.kind !== 'credential') {
    throw invalid(
      `Request "${request.id}" is no credential request. Answer it with the name ${REQUEST_NAMES[request.kind]}.`,
    )
  }
  if (request.kind === 'confirmation') return await checkApproval(request, response)
  if (request.kind === 'credential') return checkConsent(request, name, response)
  if (declinedIn(response)) return
  const mismatch = await describeMismatch(request, inputOf(response))
  if (mismatch) throw invalid(`The answer to request "${request.id}" does not match its schema: ${mismatch}.`)
}

/**
 * Checks an approval. It runs the arguments of the request, or edited arguments if the request is editable. A field
 * that cannot be used makes the approval invalid.
 */
async function checkApproval(request: RequestRecord, response: JsonObject): Promise<void> {
  const { confirmed, args } = decisionOf(response)
  if (!confirmed) return
  const dropped = findUnusableField(response, request.args)
  if (dropped !== undefined) throw invalid(`The approval of request "${request.id}" is invalid: ${dropped}.`)
  if (!args) return
  if (!request.editable) {
    throw invalid(`Request "${request.id}" does not accept edited arguments. Approve it without args, or deny it.`)
  }
  const mismatch = await describeMismatch(request, args)
  if (mismatch) throw invalid(`The edited arguments of request "${request.id}" do not match its schema: ${mismatch}.`)
  const unknown = findUnknownField(request.schema, args, request.args)
  if (unknown === undefined) return
  const problem = `The edited arguments of request "${request.id}" have a field that the tool does not know`
  throw invalid(`${problem}: ${JSON.stringify(clip(unknown, MAX_NAME_LENGTH))}. Correct its name, or leave it out.`)
}

/**
 * The recorded form of a decision. An approval holds the question that the approver was asked: for edited arguments the question
 * about them. What a client says about the question is not recorded.
 */
async function toDecision(
  { fold, call }: AnswerTarget,
  { request }: RequestState,
  response: JsonObject,
  { questionFor }: AnswerContext,
): Promise<JsonObject> {
  const { confirmed, args } = decisionOf(response)
  if (!confirmed) return recordDecision(response)
  if (args && questionFor) return recordDecision(response, (await questionFor(fold, call, args)).hint)
  return recordDecision(response, hintIn(response) === undefined ? undefined : (request.hint ?? ''))
}

/** Checks the answer to a credential request. `completeConsents` has exchanged the code: only its outcome is recorded. */
function checkConsent({ id }: RequestRecord, name: string, response: JsonObject): void {
  if (name === REQUEST_NAMES.credential && (consentIn(response) || declinedIn(response))) return
  throw invalid(`The answer to credential request "${id}" is unusable. Answer it with respond() or deny().`)
}

/** Why a value does not match the schema of the request; undefined when it does. */
async function describeMismatch({ id, schema }: RequestRecord, value: unknown): Promise<string | undefined> {
  if (!schema) return undefined
  const { issues } = await compileSchema(schema, `Request "${id}"`, { lenient: true }).parse(value)
  return issues && listIssues(issues, ({ path, expected }) => `${path || 'the value'} must be ${expected}`)
}

/**
 * The recorded form of an input: `{ result }`, or a denial. An object that matches the schema is the input itself. A schema
 * without required properties also matches the `{ result }` of respond(): then its value is the input.
 */
async function toInputResponse({ request }: RequestState, sent: JsonObject): Promise<JsonObject> {
  const { schema } = request
  const matches = async (value: unknown): Promise<boolean> =>
    schema !== undefined && (await describeMismatch(request, value)) === undefined
  const names = (property: string): boolean =>
    isRecord(schema?.properties) && Object.hasOwn(schema.properties, property)
  // a schema without required properties also accepts the object of deny()
  const declined = declinedIn(sent)
  if (declined && !names('declined')) return recordDecline(declined)
  const value = inputOf(sent)
  if (value !== sent && !names('result') && (await matches(value))) return { result: value }
  if (await matches(sent)) return { result: sent }
  return declined ? recordDecline(declined) : { result: value }
}

/** Checks the result of a call that offers options: it must be exactly one of them. */
function checkChoice(call: CallState, { willContinue }: FunctionResponse, response: JsonObject): void {
  const { options } = choiceIn(call.response?.response) ?? {}
  if (!options) return
  const [choice, ...more] = Object.values(response)
  if (more.length === 0 && options.includes(choice) && !willContinue) return
  throw invalid(`Call "${call.id}" accepts only one of its options. Respond with one of: ${options.join(', ')}.`)
}

function runsInBackground({ id }: CallState): ToolwrightError {
  const problem = `Call "${id}" runs in the background, and only its body gives its result`
  return invalid(`${problem}. Wait for it, or cancel its invocation.`)
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', message)
}

function expiredError({ id }: RequestRecord): ToolwrightError {
  return new ToolwrightError('EXPIRED', `Request "${id}" has expired and can no longer be answered.`)
}

function notPendingError(id: string): ToolwrightError {
  return new ToolwrightError(
    'NOT_FOUND',
    `No pending request has the id "${id}". Answer with an id that runner.pending() lists.`,
  )
}

function toResponseObject(response: unknown): JsonObject {
  return isRecord(response) ? response : { result: response ?? null }
}

function toFunctionResponse(
  { willContinue }: FunctionResponse,
  response: JsonObject,
  { call, requestState }: AnswerTarget,
): FunctionResponse {
  if (requestState) {
    const { id, kind } = requestState.request
    return { id, name: REQUEST_NAMES[kind], response }
  }
  const { id, name } = call
  return willContinue === true ? { id, name, response, willContinue } : { id, name, response }
}

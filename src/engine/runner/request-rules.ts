// Checks what callers pass to the methods of a Runner: options and messages.
import { copyJson, isRecord, type JsonObject, jsonSize, RESERVED_DEPTH } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { MAX_CONTENT_BYTES, MAX_METADATA_BYTES } from '../../core/base/limits.ts'
import type { Content, Message, Part } from '../../core/content/content.ts'
import { isBase64, partProblem } from '../../core/content/part-problem.ts'
import {
  anything,
  callback,
  checkOptions,
  flag,
  type OptionRules,
  oneOf,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { CREDENTIAL_ID_PREFIX, REQUEST_NAMES } from '../../core/event/request-names.ts'
import type { RunConfig } from '../context/run-config.ts'
import { toStateDelta } from '../context/state.ts'
import type { LiveStart, RunRequest } from './run/run-request.ts'
import type { RunServices } from './run-services.ts'
import type {
  AnswerOptions,
  CancelOptions,
  CloseOptions,
  FollowOptions,
  ForkOptions,
  PreviewApprovalOptions,
  PruneOptions,
  RecoverOptions,
  ResumeOptions,
  RunOptions,
  SubmitOptions,
  WorkOptions,
} from './runner-options.ts'
import type { ScheduleOptions } from './schedules/schedule-options.ts'

/** Checks the options of a method of the runner. A session key may be spread into them: `appName` must be the runner's. */
export function checkCallOptions(appName: string, method: Method, options: CallOptions): void {
  const call = `runner.${method}()`
  checkOptions(call, options, CALL_RULES[method], 'INVALID_REQUEST')
  if (options.appName !== undefined && options.appName !== appName) {
    const problem = `${call}: appName "${options.appName}" is not the app of this runner, "${appName}"`
    throw new ToolwrightError('INVALID_REQUEST', `${problem}. Leave appName out, or use the runner of that app.`)
  }
  if (options.runConfig) checkRunConfig(call, options.runConfig)
}

type Method =
  | 'run'
  | 'complete'
  | 'submit'
  | 'answer'
  | 'resume'
  | 'cancel'
  | 'pending'
  | 'pendingPage'
  | 'recover'
  | 'work'
  | 'schedule'
  | 'schedules'
  | 'follow'
  | 'updateState'
  | 'fork'
  | 'deleteSession'
  | 'deleteUser'
  | 'exportUser'
  | 'prune'
  | 'previewApproval'
  | 'close'

interface CallOptions {
  readonly appName?: string | undefined
  readonly userId?: string | undefined
  readonly runConfig?: RunConfig | undefined
}

function checkRunConfig(call: string, runConfig: RunConfig): void {
  checkOptions(`${call}, runConfig`, runConfig, RUN_CONFIG_RULES, 'INVALID_REQUEST')
}

/** Throws if `customMetadata` is too large: it is recorded with every event. */
export function checkMetadataSize({ customMetadata }: RunConfig): void {
  if (!customMetadata || jsonSize(customMetadata, MAX_METADATA_BYTES) <= MAX_METADATA_BYTES) return
  throw new ToolwrightError(
    'TOO_LARGE',
    `runConfig.customMetadata has more than ${MAX_METADATA_BYTES} bytes. Send less metadata.`,
  )
}

/**
 * Validates the caller's message and copies it to the content that is recorded, with the role `user`.
 * `maxResultBytes`: the size limit of an answer or a result.
 */
export function toContent(message: Message, maxResultBytes: number = MAX_CONTENT_BYTES): Content {
  try {
    return readContent(message, maxResultBytes)
  } catch (cause) {
    if (cause instanceof ToolwrightError) throw cause
    throw invalid(`The message cannot be read: ${messageOf(cause)}`, { cause })
  }
}

const EMPTY = 'The message is empty. Pass a text or at least one part with content.'

function readContent(message: Message, maxResultBytes: number): Content {
  if (typeof message === 'string') {
    if (isBlank(message)) throw invalid(EMPTY)
    checkSize('The message', message, MAX_CONTENT_BYTES, 'Save large data as an artifact')
    return { role: 'user', parts: [{ text: message }] }
  }
  if (holdsMessages(message)) {
    throw invalid(
      'The message is a list of messages or an AI SDK message ({ role, content }). Pass only the new message of the user, as a text or a list of parts. The session has the earlier messages.',
    )
  }
  const parts: unknown = Array.isArray(message) ? message : isRecord(message) ? (message as Content).parts : undefined
  if (!Array.isArray(parts) || parts.length === 0) {
    const hint = isSinglePart(message) ? ' Put the part into a list: message: [part].' : ''
    throw invalid(`A message must be a text, a list of parts, or a content with parts, got ${kindOf(message)}.${hint}`)
  }
  for (const [at, part] of parts.entries()) checkMessagePart(part, at, maxResultBytes)
  if (parts.every(({ text }) => isBlank(text))) throw invalid(EMPTY)
  checkSize('The message', parts, MAX_CONTENT_BYTES, 'Save large data as an artifact')
  try {
    return { role: 'user', parts: copyJson(parts as Part[], RESERVED_DEPTH) }
  } catch (cause) {
    throw invalid('The message is nested too deep. Flatten its data, or send it as text.', { cause })
  }
}

/** May the part hold an authorization code? Only text and the decision on a confirmation certainly do not. */
function mayHoldCode({ functionResponse: answer }: Part): boolean {
  if (!answer) return false
  const isDecision = isRecord(answer.response) && typeof answer.response.confirmed === 'boolean'
  return answer.name !== REQUEST_NAMES.confirmation || !isDecision || isCredentialId(answer.id)
}

function isCredentialId(id: string | undefined): boolean {
  return id?.startsWith(CREDENTIAL_ID_PREFIX) ?? false
}

/** Is this a list of messages, or a message of the AI SDK? `[{ role, ... }]`, or `{ role, content }`. */
function holdsMessages(message: unknown): boolean {
  if (Array.isArray(message)) return message.some((one) => isRecord(one) && 'role' in one)
  return isRecord(message) && 'content' in message && !('parts' in message)
}

function checkSize(subject: string, value: unknown, maxBytes: number, instead: string): void {
  const size = jsonSize(value, maxBytes)
  if (size <= maxBytes || size === Number.POSITIVE_INFINITY) return // infinite = nested too deep, which copyJson rejects
  throw new ToolwrightError('TOO_LARGE', `${subject} has more than ${maxBytes} bytes. ${instead}, and send its name.`)
}

function invalid(message: string, options?: ErrorOptions): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', message, options)
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

function isSinglePart(message: unknown): boolean {
  return isRecord(message) && ['text', 'functionResponse', 'inlineData', 'fileData'].some((key) => key in message)
}

/** Throws for a part that no provider accepts: once recorded, every later request of the session would fail. */
function checkMessagePart(part: unknown, at: number, maxResultBytes: number): void {
  if (isRecord(part) && part.functionCall !== undefined) {
    throw invalid('A message cannot contain a functionCall: only a model calls tools. Remove the part.')
  }
  const problem = partProblem(part) ?? mediaProblem(part as Part)
  if (problem !== undefined)
    throw invalid(`A message must be a text or a list of valid parts: message[${at}]${problem}${shapeOf(part)}`)
  const answer = (part as Part).functionResponse?.response
  if (answer) checkSize('An answer', answer, maxResultBytes, 'Raise maxResultBytes, or save it as an artifact')
}

/** The shape of what the caller seems to mean. */
function shapeOf(part: unknown): string {
  if (!isRecord(part)) return ''
  if (part.inlineData !== undefined || part.fileData !== undefined)
    return ' A file is { inlineData: { mimeType, data } } or { fileData: { mimeType, fileUri } }.'
  if (part.functionResponse !== undefined) return ' Create an answer with approve(), deny() or respond().'
  return ''
}

/** What is a valid part, and nothing that a provider accepts. */
function mediaProblem({ text, inlineData }: Part): string | undefined {
  if (text === '') return '.text must not be empty.'
  if (!inlineData) return undefined
  if (!inlineData.mimeType) return '.inlineData.mimeType must be a media type such as image/png.'
  if (inlineData.data === '') return '.inlineData.data must not be empty.'
  return isBase64(inlineData.data) ? undefined : '.inlineData.data must be base64.'
}

const RUN_RULES: OptionRules<RunOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  message: anything,
  stateDelta: record,
  runConfig: record,
  runContext: record,
  traceparent: text,
  signal: { expects: 'an AbortSignal', accepts: (value) => record.accepts(value) && 'aborted' in (value as object) },
}

const ANSWER_RULES: OptionRules<AnswerOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  message: anything,
  stateDelta: record,
  runContext: record,
}

const SUBMIT_RULES: OptionRules<SubmitOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  message: anything,
  stateDelta: record,
  id: text,
}

const RUN_CONFIG_RULES: OptionRules<RunConfig> = {
  streaming: flag,
  maxLlmCalls: wholeNumber(1),
  detach: flag,
  customMetadata: record,
}

const CANCEL_RULES: OptionRules<CancelOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  invocationId: text,
  runContext: record,
}

const RESUME_RULES: OptionRules<ResumeOptions & CallOptions> = {
  ...CANCEL_RULES,
  runConfig: RUN_RULES.runConfig,
  signal: RUN_RULES.signal,
}

const RECOVER_RULES: OptionRules<RecoverOptions> = { where: callback, runContext: callback }

const WORK_RULES: OptionRules<WorkOptions> = {
  ...RECOVER_RULES,
  signal: RUN_RULES.signal,
  concurrency: wholeNumber(1),
  pollMs: wholeNumber(10),
  graceMs: wholeNumber(0),
  maxCrashes: wholeNumber(1),
  label: text,
}

const SCHEDULE_RULES: OptionRules<ScheduleOptions & Pick<CallOptions, 'appName'>> = {
  appName: text,
  userId: text,
  sessionId: text,
  message: anything,
  id: text,
  at: anything, // toStoredSchedule() checks the times
  every: anything,
  cron: anything,
  timeZone: anything,
  missed: oneOf('skip', 'once', 'all'),
}

const KEY_RULES: { readonly [option in 'appName' | 'userId' | 'sessionId']: Rule } = {
  appName: text,
  userId: text,
  sessionId: text,
}

const PENDING_RULES = {
  ...KEY_RULES,
  tool: text,
  kind: oneOf('confirmation', 'credential', 'input', 'longRunning'),
}

const FOLLOW_RULES: OptionRules<FollowOptions & Pick<CallOptions, 'appName'>> = {
  ...KEY_RULES,
  afterEventId: text,
  signal: RUN_RULES.signal,
}

const FORK_RULES: OptionRules<ForkOptions & Pick<CallOptions, 'appName'>> = {
  ...KEY_RULES,
  before: text,
  newSessionId: text,
}

const PREVIEW_RULES: OptionRules<PreviewApprovalOptions & Pick<CallOptions, 'appName'>> = {
  ...KEY_RULES,
  requestId: text,
  args: record,
  runContext: record,
}

const USER_RULES = { appName: text, userId: text }

const PRUNE_RULES: OptionRules<PruneOptions> = {
  olderThan: wholeNumber(0),
  maxSessionsPerUser: wholeNumber(0),
  keepPending: flag,
  signal: RUN_RULES.signal,
}

const CLOSE_RULES: OptionRules<CloseOptions> = { graceMs: wholeNumber(0), interrupt: flag }

const CALL_RULES: { readonly [method in Method]: { readonly [option: string]: Rule } } = {
  run: RUN_RULES,
  complete: RUN_RULES,
  submit: SUBMIT_RULES,
  answer: ANSWER_RULES,
  resume: RESUME_RULES,
  cancel: CANCEL_RULES,
  pending: PENDING_RULES,
  pendingPage: { ...PENDING_RULES, limit: wholeNumber(1), after: text, maxBytes: wholeNumber(1) },
  recover: RECOVER_RULES,
  work: WORK_RULES,
  schedule: SCHEDULE_RULES,
  schedules: { ...KEY_RULES, limit: wholeNumber(1), after: text },
  follow: FOLLOW_RULES,
  updateState: { ...KEY_RULES, stateDelta: record },
  fork: FORK_RULES,
  deleteSession: KEY_RULES,
  deleteUser: USER_RULES,
  exportUser: USER_RULES,
  prune: PRUNE_RULES,
  previewApproval: PREVIEW_RULES,
  close: CLOSE_RULES,
}

/** The request of `runner.run()`. Throws INVALID_REQUEST if the message is invalid. */
export function toRunRequest(options: RunOptions, { ports, maxResultBytes }: RunServices): RunRequest {
  const { userId, sessionId, message: input, stateDelta, runConfig = {}, runContext, traceparent, signal } = options
  const message = toContent(input, maxResultBytes)
  checkMetadataSize(runConfig)
  const isAnswer = message.parts.some((part) => part.functionResponse)
  if (isAnswer && sessionId === undefined) {
    throw new ToolwrightError(
      'INVALID_REQUEST',
      'sessionId is required when answering a pending request. Pass the sessionId of the request.',
    )
  }
  return {
    userId,
    sessionId: sessionId ?? ports.newId(),
    invocationId: isAnswer ? '' : `e-${ports.newId()}`,
    message,
    mayHoldCode: isAnswer && message.parts.some(mayHoldCode),
    stateDelta: stateDelta && toStateDelta(stateDelta),
    runConfig,
    runContext,
    traceparent,
    signal,
    isNew: sessionId === undefined,
  }
}

/** The request of `runner.answer()`. Throws INVALID_REQUEST if the message is invalid, or has something else than answers. */
export function toAnswerRequest(
  options: AnswerOptions,
  services: RunServices,
): RunRequest & { readonly message: Content } {
  const request = toRunRequest(options as RunOptions, services) // without a runContext: nothing runs
  const { message } = request
  if (message?.parts.every((part) => part.functionResponse)) return { ...request, message }
  throw invalid(
    'runner.answer() takes answers to pending requests, made by approve(), deny() or respond(). Send other messages with runner.run(), or with runner.submit() for a worker.',
  )
}

/** The request of `runner.submit()`. Throws INVALID_REQUEST if the message is invalid, or has answers. */
export function toSubmitRequest(
  options: SubmitOptions,
  services: RunServices,
): RunRequest & { readonly message: Content } {
  const request = toRunRequest(options as RunOptions, services) // without a runContext: nothing runs
  const { message } = request
  if (message?.parts.some((part) => part.functionResponse))
    throw invalid('runner.submit() takes new messages. Record answers to pending requests with runner.answer().')
  if (options.id !== undefined && options.sessionId === undefined)
    throw invalid('runner.submit(): `id` needs `sessionId`. A message without one starts a new session each time.')
  return { ...request, message: message as Content } // of toRunRequest
}

type SessionOf = Pick<RunRequest, 'userId' | 'sessionId'>

/** The request of a live session. It may last for hours, so that its model calls are not limited by default. */
export function toLiveRequest({ request, live }: LiveStart, { ports }: RunServices): RunRequest {
  const { userId, sessionId, stateDelta, runConfig = {}, runContext, traceparent } = request
  checkMetadataSize(runConfig)
  return {
    userId,
    sessionId: sessionId ?? ports.newId(),
    invocationId: `e-${ports.newId()}`,
    stateDelta: stateDelta && toStateDelta(stateDelta),
    runConfig: { maxLlmCalls: Number.POSITIVE_INFINITY, ...runConfig },
    runContext,
    traceparent,
    signal: undefined,
    isNew: sessionId === undefined,
    live,
  }
}

/** The request that continues an invocation with the result of a background call. */
export function toResultRequest(
  { userId, sessionId }: SessionOf,
  message: Content,
  stateDelta: JsonObject | undefined,
): RunRequest {
  const base = {
    runConfig: {},
    runContext: undefined,
    signal: undefined,
    isNew: false,
    invocationId: '',
    isResult: true,
  }
  return { userId, sessionId, message, stateDelta, ...base }
}

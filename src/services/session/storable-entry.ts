// Checks the members of entries that readers of a log rely on. A store checks entries before it writes them. A store that
// other programs can write to (a file, a database) checks them again when it reads. Both use these functions, so that every
// stored entry can be read.
import { isRecord, type JsonObject, setOwn } from '../../core/base/json.ts'
import { isTempKey } from '../../core/base/key-scope.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Event, NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import { checkTogether, FEW_CHARACTERS } from './check-key.ts'

/** The entry without `temp:` state. Throws INVALID_REQUEST if the entry is malformed. A store calls it before it writes. */
export function toStorableEntry(entry: NewEntry): NewEntry {
  if (entry.event === undefined) {
    const problem = findRecordProblem(entry.record)
    if (problem !== undefined) throw notStorable('A record', problem)
    return entry
  }
  const problem = findEventProblem(entry.event)
  if (problem !== undefined) throw notStorable('An event', problem)
  const { id } = entry.event
  if (id.length > FEW_CHARACTERS) checkTogether({ 'The id of an event': id })
  const event = withoutTempState(entry.event)
  return event === entry.event ? entry : { event }
}

/** Adds missing ids to an event that another framework created. */
export function withEventIds(event: Event, newId: () => string): Event {
  return { ...event, id: event.id || newId(), invocationId: event.invocationId ?? '' }
}

/** Returns the request. Throws INVALID_REQUEST if it is malformed. */
export function checkPendingRequest(request: PendingRequest): PendingRequest {
  const problem = findPendingProblem(request)
  if (problem !== undefined) throw notStorable('A pending request', problem)
  return request
}

function notStorable(what: string, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `${what} cannot be stored: ${problem}.`)
}

/** The event itself, or a copy if its state delta has `temp:` keys. */
function withoutTempState(event: Event): Event {
  const delta = event.actions.stateDelta
  if (!delta || !Object.keys(delta).some(isTempKey)) return event
  const kept: JsonObject = {}
  for (const key of Object.keys(delta)) if (!isTempKey(key)) setOwn(kept, key, delta[key])
  const { stateDelta: _, ...actions } = event.actions
  return { ...event, actions: Object.keys(kept).length > 0 ? { ...actions, stateDelta: kept } : actions }
}

/** Why the value is not a valid event; undefined if it is valid. */
export function findEventProblem(event: unknown): string | undefined {
  if (!isRecord(event)) return 'the event is not an object'
  if (typeof event.id !== 'string') return 'id is not a string'
  if (typeof event.invocationId !== 'string') return 'invocationId is not a string'
  if (typeof event.author !== 'string') return 'author is not a string'
  if (!Number.isFinite(event.timestamp)) return 'timestamp is not a number'
  const { nodeInfo, longRunningToolIds, content } = event
  if (isGiven(nodeInfo) && !(isRecord(nodeInfo) && typeof nodeInfo.path === 'string')) {
    return 'nodeInfo.path is not a string'
  }
  if (!isOptionalString(event.branch)) return 'branch is not a string'
  if (!isOptionalString(event.isolationScope)) return 'isolationScope is not a string'
  if (!isOptionalString(event.errorCode)) return 'errorCode is not a string'
  if (!isOptionalString(event.errorMessage)) return 'errorMessage is not a string'
  if (isGiven(longRunningToolIds) && !isStringList(longRunningToolIds)) {
    return 'longRunningToolIds is not a list of strings'
  }
  return actionsProblem(event.actions) ?? (isGiven(content) ? contentProblem(content) : undefined)
}

/** Why the value is not a valid record; undefined if it is valid. */
export function findRecordProblem(record: unknown): string | undefined {
  if (!isRecord(record)) return 'the record is not an object'
  if (typeof record.invocationId !== 'string') return 'invocationId is not a string'
  if (record.type === 'intent') return intentProblem(record.path, record.calls)
  if (record.type === 'request') return requestProblem(record)
  if (record.type === 'phase') return phaseProblem(record)
  if (record.type === 'background') return backgroundProblem(record.path, record.calls)
  if (record.type === 'attempt') return attemptProblem(record)
  if (record.type === 'interruption') return typeof record.callId === 'string' ? undefined : 'callId is not a string'
  // Unknown records are refused: one of them may say that a tool body has started.
  if (record.type !== 'denial') return 'type is not intent, request, denial, background, attempt, interruption or phase'
  if (typeof record.requestId !== 'string') return 'requestId is not a string'
  return typeof record.reason === 'string' ? undefined : 'reason is not a string'
}

const PENDING_STRINGS = ['id', 'kind', 'userId', 'sessionId', 'invocationId', 'functionCallId', 'tool', 'agent']

/** Why the value is not a valid pending request; undefined if it is valid. */
export function findPendingProblem(request: unknown): string | undefined {
  if (!isRecord(request)) return 'the request is not an object'
  for (const name of PENDING_STRINGS) if (typeof request[name] !== 'string') return `${name} is not a string`
  if (!isRecord(request.args)) return 'args is not an object'
  if (isGiven(request.createdAt) && !Number.isFinite(request.createdAt)) return 'createdAt is not a number'
  return isGiven(request.expiresAt) && !Number.isFinite(request.expiresAt) ? 'expiresAt is not a number' : undefined
}

function intentProblem(path: unknown, calls: unknown): string | undefined {
  if (typeof path !== 'string') return 'path is not a string'
  if (!Array.isArray(calls)) return 'calls is not a list'
  for (const call of calls) {
    if (!isRecord(call) || typeof call.id !== 'string') return 'a call has no id'
    if (isGiven(call.args) && !isRecord(call.args)) return 'the args of a call are not an object'
  }
  return undefined
}

function backgroundProblem(path: unknown, calls: unknown): string | undefined {
  if (typeof path !== 'string') return 'path is not a string'
  if (!Array.isArray(calls)) return 'calls is not a list'
  for (const call of calls) {
    if (!isRecord(call) || typeof call.id !== 'string') return 'a call has no id'
    if (isGiven(call.until) && !Number.isFinite(call.until)) return 'until is not a number'
    if (isGiven(call.engine) && !(isRecord(call.engine) && isOptionalRecord(call.engine.args)))
      return 'the engine of a call is not an object'
  }
  return undefined
}

function attemptProblem({ callId, id, crashes, until }: { readonly [key: string]: unknown }): string | undefined {
  if (typeof callId !== 'string') return 'callId is not a string'
  if (typeof id !== 'string') return 'id is not a string'
  if (!Number.isSafeInteger(crashes)) return 'crashes is not a whole number'
  return Number.isFinite(until) ? undefined : 'until is not a number'
}

function phaseProblem({ phase, tools }: { readonly [key: string]: unknown }): string | undefined {
  if (typeof phase !== 'string') return 'phase is not a string'
  return isGiven(tools) && !isStringList(tools) ? 'tools is not a list of strings' : undefined
}

const REQUEST_STRINGS = ['id', 'path', 'callId', 'definition']
const KINDS: readonly unknown[] = ['confirmation', 'credential', 'input']

function requestProblem(request: { readonly [key: string]: unknown }): string | undefined {
  for (const name of REQUEST_STRINGS) if (typeof request[name] !== 'string') return `${name} is not a string`
  if (!KINDS.includes(request.kind)) return 'kind is not confirmation, credential or input'
  if (request.origin !== 'gate' && request.origin !== 'body') return 'origin is not gate or body'
  if (!isRecord(request.args)) return 'args is not an object'
  if (!isOptionalRecord(request.session)) return 'session is not an object'
  if (!isOptionalString(request.key)) return 'key is not a string'
  if (!isOptionalString(request.hint)) return 'hint is not a string'
  if (isGiven(request.schema) && !isRecord(request.schema)) return 'schema is not an object'
  if (!Number.isFinite(request.createdAt)) return 'createdAt is not a number'
  return isGiven(request.expiresAt) && !Number.isFinite(request.expiresAt) ? 'expiresAt is not a number' : undefined
}

function actionsProblem(actions: unknown): string | undefined {
  if (!isRecord(actions)) return 'actions is not an object'
  if (!isOptionalRecord(actions.stateDelta)) return 'stateDelta is not an object'
  if (!isOptionalRecord(actions.artifactDelta)) return 'artifactDelta is not an object'
  return isOptionalString(actions.transferToAgent) ? undefined : 'transferToAgent is not a string'
}

function contentProblem(content: unknown): string | undefined {
  if (!isRecord(content) || !Array.isArray(content.parts)) return 'the content is not a list of parts'
  if (!isOptionalString(content.role)) return 'the role of the content is not a string'
  const { parts, role } = content
  for (let at = 0; at < parts.length; at++) {
    const part: unknown = parts[at]
    if (!isRecord(part)) return 'a part is not an object'
    const problem = role === 'model' ? callProblem(part.functionCall) : partProblem(part)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Why the call in a part of a model is not valid; undefined if it is valid. The other members may have any shape. */
function callProblem(call: unknown): string | undefined {
  if (!isGiven(call)) return undefined
  if (!isRecord(call) || !isOptionalString(call.id)) return 'functionCall is not an object with an id'
  return isOptionalString(call.name) ? undefined : 'the name of a call is not a string'
}

/** Why a part is not valid; undefined if it is valid. Checks only the keys that the part has: most parts have one. */
function partProblem(part: { readonly [key: string]: unknown }): string | undefined {
  for (const key in part) {
    const value = part[key]
    if (value === undefined || value === null) continue
    const problem = typeof value === 'string' ? stringProblem(key) : valueProblem(key, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

const OBJECTS: ReadonlySet<string> = new Set([
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'inlineData',
  'fileData',
])

function stringProblem(key: string): string | undefined {
  return key !== 'text' && OBJECTS.has(key) ? `${key} is not an object` : undefined
}

function valueProblem(key: string, value: unknown): string | undefined {
  if (key === 'text') return 'the text of a part is not a string'
  if (!OBJECTS.has(key)) return undefined
  if (key === 'functionCall') return callProblem(value)
  if (!isRecord(value) || !isOptionalString(value.id)) return `${key} is not an object with an id`
  if (key === 'functionResponse') return isRecord(value.response) ? undefined : 'a functionResponse has no response'
  if (key === 'executableCode') return typeof value.code === 'string' ? undefined : 'executableCode has no code'
  if (key === 'codeExecutionResult' && !isOptionalString(value.output)) return 'the output of code is not a string'
  return key === 'inlineData' && !isOptionalString(value.data) ? 'the data of inlineData is not a string' : undefined
}

/** Is the member present? Other ADKs write null for absent members. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isOptionalString(value: unknown): boolean {
  return value === undefined || typeof value === 'string' || value === null
}

function isOptionalRecord(value: unknown): boolean {
  return value === undefined || value === null || isRecord(value)
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

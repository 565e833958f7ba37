// Reads the log of a session for the auditor. It uses the entries only, not the framework's own reducer.
import type { Event, JsonObject, Part } from 'toolwright'
import type { RequestRecord } from 'toolwright/store'
import type { Evidence, SessionEvidence } from '../evidence.ts'

export interface AuditedLog {
  /** `user/session` */
  readonly session: string
  readonly evidence: SessionEvidence
  /** Calls by `<invocation>/<call>`, which is also the idempotency key. */
  readonly calls: ReadonlyMap<string, AuditedCall>
  /** Keys that more than one call has. */
  readonly doubled: readonly string[]
  /** Returns the process that stored an entry, and the tick. */
  stored(seq: number): Stored | undefined
  /** The replies of models, in order. */
  readonly replies: readonly { readonly seq: number; readonly event: Event }[]
  /** The last sequence number at a tick. */
  lengthAt(tick: number): number
}

export interface AuditedCall {
  readonly key: string
  readonly id: string
  readonly name: string
  readonly args: JsonObject
  readonly path: string
  readonly agent: string
  readonly invocationId: string
  readonly seq: number
  readonly isCode: boolean
  readonly intents: { readonly seq: number; readonly args: JsonObject | undefined }[]
  readonly asked: Asked[]
  /** All responses of the call, including the handle of a long-running call. */
  readonly responses: Answered[]
}

export interface Asked {
  readonly seq: number
  readonly request: RequestRecord
  answer?: { readonly seq: number; readonly response: JsonObject }
  denied?: number
}

export interface Answered {
  readonly seq: number
  readonly event: Event
  readonly response: JsonObject
  readonly isFinal: boolean
}

export interface Stored {
  readonly tick: number
  readonly process: string
  readonly epoch: number
}

export function readLogs(evidence: Evidence): AuditedLog[] {
  return evidence.sessions.map((session) => readLog(evidence, session))
}

function readLog(evidence: Evidence, one: SessionEvidence): AuditedLog {
  const session = `${one.userId}/${one.sessionId}`
  const calls = new Map<string, AuditedCall>()
  const doubled: string[] = []
  const replies: { seq: number; event: Event }[] = []
  const asked = new Map<string, Asked>()
  const storedBy = storers(evidence, session)
  const questions = new Map(
    one.entries.flatMap(({ seq, record }) =>
      record?.type === 'request' ? [[record.id, storedBy.get(seq)?.tick] as const] : [],
    ),
  )
  for (const { seq, event, record } of one.entries) {
    if (event) {
      // the append that records a request also shows it to clients; in other events a call with that id comes from a
      // model
      const isShown = (id: string): boolean => questions.has(id) && questions.get(id) === storedBy.get(seq)?.tick
      if (isReply(event, isShown)) replies.push({ seq, event })
      for (const call of callsIn(event, seq, isShown)) {
        if (calls.has(call.key)) doubled.push(call.key)
        else calls.set(call.key, call)
      }
      for (const part of event.content?.parts ?? []) answer(event, part, seq)
    } else if (record.type === 'intent') {
      for (const { id, args } of record.calls) calls.get(`${record.invocationId}/${id}`)?.intents.push({ seq, args })
    } else if (record.type === 'request') {
      const question: Asked = { seq, request: record }
      asked.set(record.id, question)
      calls.get(`${record.invocationId}/${record.callId}`)?.asked.push(question)
    } else if (record.type === 'denial') {
      const question = asked.get(record.requestId)
      if (question) question.denied = seq
    }
  }
  const lengthAt = (tick: number): number =>
    one.entries.findLast(({ seq }) => (storedBy.get(seq)?.tick ?? tick) < tick)?.seq ?? 0
  return { session, evidence: one, calls, replies, doubled, stored: (seq) => storedBy.get(seq), lengthAt }

  function answer(event: Event, part: Part, seq: number): void {
    const given = answerOf(part)
    if (!given) return
    const question = event.author === 'user' ? asked.get(given.id) : undefined
    if (question) question.answer ??= { seq, response: given.response }
    else calls.get(`${event.invocationId}/${given.id}`)?.responses.push({ ...given, seq, event })
  }
}

/**
 * Is the event a reply of a model? Requests to users and calls from code are recorded like replies, but are not
 * replies.
 */
function isReply({ author, content, nodeInfo }: Event, isShown: (id: string) => boolean): boolean {
  if (author === 'user' || content?.role !== 'model') return false
  if (/\/call@\d+$/.test(nodeInfo?.path ?? '')) return false
  return !content.parts.some(({ functionCall }) => isShown(functionCall?.id ?? ''))
}

/** The calls of a model. Requests to users look like calls, but are not calls. Calls in user messages are ignored. */
function callsIn(event: Event, seq: number, isShown: (id: string) => boolean): AuditedCall[] {
  if (event.author === 'user' || event.content?.role !== 'model') return []
  return event.content.parts.flatMap(({ functionCall, executableCode }) => {
    const id = functionCall?.id ?? executableCode?.id
    if (id === undefined || isShown(id)) return []
    const { author: agent, invocationId } = event
    return {
      key: `${invocationId}/${id}`,
      id,
      name: functionCall?.name ?? '(code)',
      args: functionCall?.args ?? {},
      path: event.nodeInfo?.path ?? '',
      agent,
      invocationId,
      seq,
      isCode: functionCall === undefined,
      intents: [],
      asked: [],
      responses: [],
    }
  })
}

function answerOf({ functionResponse, codeExecutionResult }: Part) {
  if (functionResponse) {
    const { id = '', response, willContinue } = functionResponse
    return { id, response, isFinal: willContinue !== true }
  }
  if (codeExecutionResult?.id === undefined) return undefined
  return { id: codeExecutionResult.id, response: { ...codeExecutionResult }, isFinal: true }
}

/**
 * Finds the append that stored each entry: the first append that covers its sequence number. Repeated appends store
 * nothing.
 */
function storers({ journal }: Evidence, session: string): Map<number, Stored> {
  const storedBy = new Map<number, Stored>()
  for (const { method, session: where, done, seq, expectedSeq, tick, process, epoch } of journal) {
    if (method !== 'append' || where !== session || !done || seq === undefined || expectedSeq === undefined) continue
    for (let at = expectedSeq + 1; at <= seq; at++) {
      if (!storedBy.has(at)) storedBy.set(at, { tick, process, epoch: epoch ?? -1 })
    }
  }
  return storedBy
}

/** The final response of a call. */
export function finalOf({ responses }: AuditedCall): Answered | undefined {
  return responses.find(({ isFinal }) => isFinal)
}

export function isError({ error }: JsonObject): boolean {
  return error !== undefined && error !== null
}

/** JSON with sorted keys: equal values have equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** The decision in an answer, in any of its accepted shapes. */
export function decisionIn(answer: unknown): JsonObject {
  if (typeof answer === 'string') return /^\{/.test(answer) ? decisionIn(JSON.parse(answer)) : {}
  if (typeof answer !== 'object' || answer === null) return {}
  const decision = answer as JsonObject
  if (Object.hasOwn(decision, 'confirmed')) return decision
  return decisionIn(decision.toolConfirmation ?? decision.response ?? decision.result)
}

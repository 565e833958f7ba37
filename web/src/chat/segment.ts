// The rows of a part of a conversation, made from its entries one after another.
import type { FunctionCall, FunctionResponse, Part } from '../../../src/content/content.ts'
import { callTimeOf } from '../../../src/event/call-time.ts'
import type { Entry, Event, LogRecord, Request } from '../../../src/event/event.ts'
import { failedAttemptsOf } from '../../../src/event/failed-attempts.ts'
import { isFailure } from '../../../src/event/invocation-state.ts'
import { readAnswer } from '../../../src/event/read-answer.ts'
import { REQUEST_PREFIX } from '../../../src/event/request-names.ts'
import { isLocal, type LogView } from '../session/log-view.ts'
import type { AnsweredRequest, CallRow, ChatRow, RequestAnswer, UserRow } from './rows.ts'

/** Changes a call or a request. Returns false if the segment does not have it. */
type Change = (segment: Segment) => boolean

/** Rows of consecutive entries. */
export class Segment {
  #rows: ChatRow[] = []
  /** Whether a caller has the array, which must not be changed then. */
  #isShared = false
  #seen = new Set<string>()
  #callAt = new Map<string, number>()
  #requestAt = new Map<string, number>()
  /** The latest of equal calls in one scope, by tool and arguments. */
  #equalCalls = new Map<string, string>()
  #openCalls = new Map<string, Set<string>>()
  #streamedAs: LogView['streamedAs'] = new Map()
  /** Changes of calls and requests that are in an earlier segment. */
  #changesOfEarlier: Change[] = []
  /** The places of messages that the server has not confirmed. */
  #localAt: number[] = []

  /** The rows as they are now. The same array is never changed. */
  get rows(): readonly ChatRow[] {
    this.#isShared = true
    return this.#rows
  }

  /** Adds entries of the log, then events that are not in the log yet. */
  add(entries: readonly Entry[], { recent, streamedAs }: Pick<LogView, 'recent' | 'streamedAs'>): void {
    this.#streamedAs = streamedAs
    this.#ownRows()
    for (const { event, record } of entries) {
      if (event) this.#addEvent(event)
      else if (record) this.#addRecord(record)
    }
    for (const event of recent) this.#addEvent(event)
    this.#dropUnconfirmed(recent)
  }

  /** Applies responses and answers to the calls and requests of an earlier segment. */
  passTo(earlier: Segment): void {
    if (this.#changesOfEarlier.length === 0) return
    earlier.#ownRows()
    this.#changesOfEarlier = this.#changesOfEarlier.filter((change) => !change(earlier))
  }

  #ownRows(): void {
    if (this.#isShared) this.#rows = [...this.#rows]
    this.#isShared = false
  }

  #addEvent(event: Event): void {
    if (this.#seen.has(event.id)) return
    this.#seen.add(event.id)
    if (event.author === 'user') this.#addUser(event)
    else for (const [at, part] of (event.content?.parts ?? []).entries()) this.#addPart(event, part, at)
    this.#addEffects(event)
  }

  #addUser(event: Event): void {
    const parts = event.content?.parts ?? []
    for (const { functionResponse } of parts) if (functionResponse) this.#addAnswer(functionResponse, event)
    const said = parts.filter((part) => !part.functionResponse)
    if (said.length === 0) return
    const { id, timestamp, invocationId } = event
    const row: UserRow = { type: 'user', key: id, timestamp, invocationId, parts: said }
    const local = isLocal(id) ? undefined : this.#localAt.pop()
    if (isLocal(id)) this.#localAt.push(this.#rows.length)
    if (local === undefined) this.#rows.push(row)
    else this.#rows[local] = row
  }

  #addPart(event: Event, part: Part, at: number): void {
    const { author, timestamp } = event
    const base = { key: `${this.#streamedAs.get(event.id) ?? event.id}/${at}`, timestamp, author }
    if (part.functionCall) this.#addCall(event, part.functionCall)
    else if (part.functionResponse) this.#addResponse(part.functionResponse, event)
    else if (part.executableCode) this.#rows.push({ ...base, type: 'code', code: part.executableCode })
    else if (part.codeExecutionResult) this.#rows.push({ ...base, type: 'output', output: part.codeExecutionResult })
    else if (part.inlineData || part.fileData) this.#rows.push({ ...base, type: 'media', part })
    else if (part.text) {
      const { usageMetadata: usage } = event
      const isThought = part.thought === true
      this.#rows.push({ ...base, type: 'text', text: part.text, isThought, isStreaming: false, usage })
    }
  }

  #addCall(event: Event, { id = '', name, args }: FunctionCall): void {
    if (name.startsWith(REQUEST_PREFIX) || this.#callAt.has(id)) return
    const { invocationId, author, timestamp, nodeInfo } = event
    const same = JSON.stringify([invocationId, nodeInfo?.path, name, args])
    const attempt = this.#attemptAfter(this.#equalCalls.get(same))
    this.#equalCalls.set(same, id)
    this.#callAt.set(id, this.#rows.length)
    const open = this.#openCalls.get(invocationId) ?? new Set()
    this.#openCalls.set(invocationId, open.add(id))
    const isLongRunning = event.longRunningToolIds?.includes(id) === true
    const rest = { invocationId, isLongRunning, requests: [], starts: 0, attempt, isAbandoned: false }
    this.#rows.push({ type: 'call', key: `call ${id}`, id, name, args: args ?? {}, author, timestamp, ...rest })
  }

  /** A call that repeats one with a result is no further attempt: a tool may be asked twice. */
  #attemptAfter(id: string | undefined): number {
    const before = id === undefined ? undefined : this.#rows[this.#callAt.get(id) ?? -1]
    if (before?.type !== 'call') return 1
    return before.response && !isFailure(before.response.response) ? 1 : before.attempt + 1
  }

  #addResponse(response: FunctionResponse, event: Event): void {
    const { id = '' } = response
    const failedAttempts = failedAttemptsOf(event, id)
    const retried = failedAttempts.length > 0 ? { failedAttempts } : {}
    const facts = response.willContinue ? {} : { ...callTimeOf(event, id), ...retried }
    this.#apply((segment) => segment.#respond(response, facts))
  }

  #respond(response: FunctionResponse, ended: Partial<CallRow>): boolean {
    if (!this.#changeCall(response.id, (row) => ({ ...row, response, ...ended }))) return false
    const row = this.#rows[this.#callAt.get(response.id ?? '') ?? -1]
    if (row?.type === 'call' && !response.willContinue) this.#openCalls.get(row.invocationId)?.delete(row.id)
    return true
  }

  /** An answer names a request, or the call that waits for its result. */
  #addAnswer(response: FunctionResponse, { timestamp }: Event): void {
    const id = response.id ?? ''
    this.#apply(
      (segment) =>
        segment.#changeRequest(id, ({ kind }) => ({ ...readAnswer(kind, response.response), at: timestamp })) ||
        segment.#changeCall(id, (row) => ({ ...row, response, endedAt: timestamp })),
    )
  }

  /** Applies a change here, or keeps it for the earlier segment that has the call or the request. */
  #apply(change: Change): void {
    if (!change(this)) this.#changesOfEarlier.push(change)
  }

  #addRecord(record: LogRecord): void {
    switch (record.type) {
      case 'intent':
        for (const { id, args } of record.calls) {
          const changed = args ? { changedArgs: args } : {}
          this.#apply((segment) => segment.#changeCall(id, (row) => ({ ...row, starts: row.starts + 1, ...changed })))
        }
        return
      case 'request':
        this.#addRequest(record)
        return
      case 'denial': {
        const { requestId, reason } = record
        this.#apply((segment) => segment.#changeRequest(requestId, () => ({ type: 'expired', reason })))
      }
    }
  }

  #addRequest(record: Request): void {
    const at = this.#callAt.get(record.callId)
    this.#requestAt.set(record.id, at ?? this.#rows.length)
    if (at === undefined)
      this.#rows.push({ type: 'request', key: record.id, timestamp: record.createdAt, request: { record } })
    else this.#changeCall(record.callId, (row) => ({ ...row, requests: [...row.requests, { record }] }))
  }

  #changeRequest(id: string, answerOf: (record: Request) => RequestAnswer): boolean {
    const at = this.#requestAt.get(id)
    if (at === undefined) return false
    const row = this.#rows[at]
    const withAnswer = (one: AnsweredRequest): AnsweredRequest =>
      one.record.id === id ? { ...one, answer: answerOf(one.record) } : one
    if (row?.type === 'request') this.#rows[at] = { ...row, request: withAnswer(row.request) }
    if (row?.type === 'call') this.#rows[at] = { ...row, requests: row.requests.map(withAnswer) }
    return true
  }

  #changeCall(id: string | undefined, change: (row: CallRow) => CallRow): boolean {
    const at = this.#callAt.get(id ?? '')
    const row = at === undefined ? undefined : this.#rows[at]
    if (at === undefined || row?.type !== 'call') return false
    this.#rows[at] = change(row)
    return true
  }

  #addEffects(event: Event): void {
    const { id, timestamp, actions, errorCode, errorMessage } = event
    const base = { timestamp }
    for (const [filename, version] of Object.entries(actions?.artifactDelta ?? {}))
      this.#rows.push({ ...base, type: 'artifact', key: `${id} artifact ${filename}`, filename, version })
    if (actions?.transferToAgent)
      this.#note(event, 'transfer', `${event.author} handed over to ${actions.transferToAgent}`)
    if (errorCode === undefined) return
    this.#rows.push({ ...base, type: 'error', key: `${id} error`, code: errorCode, message: errorMessage ?? '' })
    for (const call of this.#openCalls.get(event.invocationId) ?? [])
      this.#changeCall(call, (row) => ({ ...row, isAbandoned: true }))
  }

  #note({ id, timestamp }: Event, kind: string, text: string): void {
    this.#rows.push({ type: 'note', key: `${id} ${kind}`, timestamp, text })
  }

  /** Removes messages that the server refused. */
  #dropUnconfirmed(recent: LogView['recent']): void {
    const isDropped = ({ type, key }: ChatRow): boolean =>
      type === 'user' && isLocal(key) && !recent.some(({ id }) => id === key)
    // they are always at the end, so that no index changes
    while (this.#rows.length > 0 && isDropped(this.#rows.at(-1) as ChatRow)) this.#rows.pop()
    this.#localAt = this.#localAt.filter((at) => at < this.#rows.length)
  }
}

// The rows of a conversation, made from its log. A long log is read from its end, page by page.
import type { Part } from '../../../src/core/content/content.ts'
import type { Entry, Event } from '../../../src/core/event/event.ts'
import { LogReader } from '../../../src/core/event/views/log-reader.ts'
import type { CallView } from '../../../src/core/event/views/views.ts'
import { isLocal, type LogView } from '../session/log-view.ts'
import type { ChatRow, UserRow } from './rows.ts'

/** Makes rows from a log that grows. Only new entries are read; when earlier ones are added, all are read again. */
export class ChatFold {
  #reader = new LogReader()
  /** The rows as they were returned last. Never changed afterwards. */
  #rows: readonly ChatRow[] = []
  #next: ChatRow[] = []
  #seen = new Set<string>()
  /** The places of calls, by call id. */
  #callAt = new Map<string, number>()
  /** The places of messages that the server has not confirmed. */
  #localAt: number[] = []
  #streamedAs: LogView['streamedAs'] = new Map()
  /** The sequence numbers of the first and the last entry of the log that was read. */
  #first = 0
  #last = 0

  /** The rows of the log as it is now. The same array is never changed. */
  update({ entries, recent, streamedAs }: LogView): readonly ChatRow[] {
    this.#streamedAs = streamedAs
    const isContinued = this.#first > 0 && entries[0]?.seq === this.#first && this.#indexOf(entries, this.#last) >= 0
    if (!isContinued && this.#last > 0) this.#reset()
    this.#next = [...this.#rows]
    const added = isContinued ? entries.slice(this.#indexOf(entries, this.#last) + 1) : fromFirstMessage(entries)
    for (const entry of added) this.#addEntry(entry)
    for (const event of recent) this.#addEvent(event)
    this.#dropUnconfirmed(recent)
    this.#updateCalls()
    this.#first = entries[0]?.seq ?? 0
    this.#last = entries.at(-1)?.seq ?? 0
    this.#rows = this.#next
    return this.#rows
  }

  #reset(): void {
    this.#reader = new LogReader()
    this.#rows = []
    this.#seen = new Set()
    this.#callAt = new Map()
    this.#localAt = []
  }

  /** The index of an entry; -1 if it is not there. The numbers have no gaps. */
  #indexOf(entries: readonly Entry[], seq: number): number {
    const at = seq - (entries[0]?.seq ?? 0)
    return entries[at]?.seq === seq ? at : -1
  }

  #addEntry({ seq, event, record }: Entry): void {
    if (event) this.#addEvent(event)
    else {
      this.#reader.add({ seq, record })
      if (record.type === 'request') this.#addCall(record.callId) // of a toolset: it has no event
    }
  }

  #addEvent(event: Event): void {
    if (this.#seen.has(event.id)) return
    this.#seen.add(event.id)
    this.#reader.add({ event })
    if (event.author === 'user') this.#addUser(event)
    else for (const [at, part] of (event.content?.parts ?? []).entries()) this.#addPart(event, part, at)
    this.#addEffects(event)
  }

  #addUser(event: Event): void {
    const { id, timestamp, invocationId, content } = event
    const parts = content?.parts.filter((part) => !part.functionResponse) ?? []
    if (parts.length === 0) return
    const row: UserRow = { type: 'user', key: id, timestamp, ...importOf(event), invocationId, parts }
    const local = isLocal(id) ? undefined : this.#localAt.pop()
    if (isLocal(id)) this.#localAt.push(this.#next.length)
    if (local === undefined) this.#next.push(row)
    else this.#next[local] = row
  }

  #addPart(event: Event, part: Part, at: number): void {
    const { author, timestamp } = event
    const base = { key: `${this.#streamedAs.get(event.id) ?? event.id}/${at}`, timestamp, ...importOf(event), author }
    if (part.functionCall) this.#addCall(part.functionCall.id || `${event.id}-${at}`)
    else if (part.executableCode) this.#next.push({ ...base, type: 'code', code: part.executableCode })
    else if (part.codeExecutionResult) this.#next.push({ ...base, type: 'output', output: part.codeExecutionResult })
    else if (part.inlineData || part.fileData) this.#next.push({ ...base, type: 'media', part })
    else if (part.text) {
      const { usageMetadata: usage } = event
      const isThought = part.thought === true
      this.#next.push({
        ...base,
        type: 'text',
        eventId: event.id,
        text: part.text,
        isThought,
        isStreaming: false,
        usage,
      })
    }
  }

  /** Adds a row for a call, if it has none. Requests to people look like calls in events, but the log reader knows them. */
  #addCall(id: string): void {
    const call = this.#callAt.has(id) ? undefined : this.#reader.call(id)
    if (!call) return
    this.#callAt.set(id, this.#next.length)
    this.#next.push(rowOf(call))
  }

  /** Replaces the rows of calls that have changed. A response that streams can be read before the answer that led to it. */
  #updateCalls(): void {
    for (const [id, at] of this.#callAt) {
      const row = this.#next[at]
      const call = this.#reader.call(id)
      if (call && row?.type === 'call' && row.call !== call) this.#next[at] = rowOf(call)
    }
  }

  #addEffects(event: Event): void {
    const { id, author, actions, errorCode, errorMessage = '' } = event
    const base = { timestamp: event.timestamp, ...importOf(event) }
    for (const [filename, version] of Object.entries(actions?.artifactDelta ?? {}))
      this.#next.push({ ...base, type: 'artifact', key: `${id} artifact ${filename}`, filename, version })
    const target = actions?.transferToAgent
    if (target)
      this.#next.push({ ...base, type: 'note', key: `${id} transfer`, text: `${author} handed over to ${target}` })
    if (errorCode !== undefined)
      this.#next.push({ ...base, type: 'error', key: `${id} error`, code: errorCode, message: errorMessage })
  }

  /** Removes messages that the server refused. */
  #dropUnconfirmed(recent: LogView['recent']): void {
    const isDropped = ({ type, key }: ChatRow): boolean =>
      type === 'user' && isLocal(key) && !recent.some(({ id }) => id === key)
    // they are always at the end, so that no index changes
    while (this.#next.length > 0 && isDropped(this.#next.at(-1) as ChatRow)) this.#next.pop()
    this.#localAt = this.#localAt.filter((at) => at < this.#next.length)
  }
}

function rowOf(call: CallView): ChatRow {
  return {
    type: 'call',
    key: `call ${call.id}`,
    timestamp: call.madeAt,
    call,
    ...(call.isImported && { imported: true }),
  }
}

function importOf({ imported }: Event): { readonly imported?: true } {
  return imported ? { imported } : {}
}

/** A part of a log from its first message on: what comes before belongs to a turn that is not read yet. */
function fromFirstMessage(entries: readonly Entry[]): readonly Entry[] {
  return entries[0]?.seq === 1 ? entries : entries.slice(Math.max(0, entries.findIndex(startsTurn)))
}

function startsTurn({ event }: Entry): boolean {
  return event?.author === 'user' && event.content?.parts.some((part) => !part.functionResponse) === true
}

// The rows of a conversation, made from its log. A long log is read from its end, page by page.
import { type Part, textOf } from '../../../src/core/content/content.ts'
import type { Entry, Event } from '../../../src/core/event/event.ts'
import { LogReader } from '../../../src/core/event/views/log-reader.ts'
import { isLocal, type LogView } from '../session/log-view.ts'
import type { CallRow, ChatRow, UserRow } from './rows.ts'

/** The list of the rows that are in no call. */
const TOP = ''
/** Rows that are in more calls than this are shown outside of them. */
const MOST_LEVELS = 20

/** Makes rows from a log that grows. Only new entries are read; when earlier ones are added, all are read again. */
export class ChatFold {
  #reader = new LogReader()
  /** The rows: of the conversation, and of each call those inside it. A list that was returned is never changed afterwards. */
  #lists = new Map<string, ChatRow[]>()
  /** The lists that the update under way has copied. */
  #changed = new Set<string>()
  #seen = new Set<string>()
  /** The places of calls, by call id. */
  #callAt = new Map<string, { readonly list: string; readonly at: number; readonly depth: number }>()
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
    this.#changed.clear()
    const added = isContinued ? entries.slice(this.#indexOf(entries, this.#last) + 1) : fromFirstMessage(entries)
    for (const entry of added) this.#addEntry(entry)
    for (const event of recent) this.#addEvent(event)
    this.#dropUnconfirmed(recent)
    this.#updateCalls()
    this.#nest()
    this.#first = entries[0]?.seq ?? 0
    this.#last = entries.at(-1)?.seq ?? 0
    return this.#rows(TOP)
  }

  #reset(): void {
    this.#reader = new LogReader()
    this.#lists = new Map()
    this.#seen = new Set()
    this.#callAt = new Map()
    this.#localAt = []
  }

  /** A list that may be changed. */
  #rows(list: string): ChatRow[] {
    let rows = this.#lists.get(list)
    if (rows && this.#changed.has(list)) return rows
    rows = [...(rows ?? [])]
    this.#changed.add(list)
    this.#lists.set(list, rows)
    return rows
  }

  /** The list of what is inside a call. */
  #listIn(callId = TOP): string {
    const { depth = MOST_LEVELS } = this.#callAt.get(callId) ?? {}
    return depth < MOST_LEVELS ? callId : TOP
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
    const list = this.#listIn(this.#reader.callAround(event)?.id)
    if (event.author === 'user') this.#addUser(event)
    else if (isInstruction(event)) this.#addInstruction(event, list)
    else this.#addParts(event, list)
    this.#addEffects(event, list)
  }

  #addUser(event: Event): void {
    const { id, timestamp, invocationId, content } = event
    const parts = content?.parts.filter((part) => !part.functionResponse) ?? []
    if (parts.length === 0) return
    const row: UserRow = { type: 'user', key: id, timestamp, ...importOf(event), invocationId, parts }
    const rows = this.#rows(TOP)
    const local = isLocal(id) ? undefined : this.#localAt.pop()
    if (isLocal(id)) this.#localAt.push(rows.length)
    if (local === undefined) rows.push(row)
    else rows[local] = row
  }

  /** A message to an agent that no user wrote. The first one in a call is its arguments. */
  #addInstruction({ id, timestamp, author, content }: Event, list: string): void {
    const rows = this.#rows(list)
    if (list === TOP || rows.length > 0)
      rows.push({ type: 'note', key: id, timestamp, text: `To ${author}: ${textOf(content)}` })
  }

  #addParts(event: Event, list: string): void {
    let response = ''
    for (const [at, part] of (event.content?.parts ?? []).entries()) {
      if (part.functionResponse) response = part.functionResponse.id ?? ''
      else if (this.#callAt.has(response) && (part.inlineData || part.fileData)) this.#addMedia(response, part)
      else this.#addPart(event, part, { at, list })
    }
  }

  /** Adds a file to the result that it follows. */
  #addMedia(callId: string, part: Part): void {
    this.#changeCall(callId, (row) => ({ ...row, media: [...row.media, part] }))
  }

  #addPart(event: Event, part: Part, { at, list }: { readonly at: number; readonly list: string }): void {
    const { author, timestamp, id } = event
    const base = { key: `${this.#streamedAs.get(id) ?? id}/${at}`, timestamp, ...importOf(event), author }
    const rows = this.#rows(list)
    if (part.functionCall) this.#addCall(part.functionCall.id || `${id}-${at}`)
    else if (part.executableCode) rows.push({ ...base, type: 'code', code: part.executableCode })
    else if (part.codeExecutionResult) rows.push({ ...base, type: 'output', output: part.codeExecutionResult })
    else if (part.inlineData || part.fileData) rows.push({ ...base, type: 'media', part })
    else if (part.text) {
      const { usageMetadata: usage } = event
      const isThought = part.thought === true
      const replyId = event.turnComplete || usage ? id : undefined
      rows.push({ ...base, type: 'text', eventId: id, text: part.text, isThought, isStreaming: false, usage, replyId })
    }
  }

  /** Adds a row for a call, if it has none. Requests to people look like calls in events, but the log reader knows them. */
  #addCall(id: string): void {
    const call = this.#callAt.has(id) ? undefined : this.#reader.call(id)
    if (!call) return
    const list = this.#listIn(call.parent)
    const rows = this.#rows(list)
    this.#callAt.set(id, { list, at: rows.length, depth: 1 + (this.#callAt.get(list)?.depth ?? 0) })
    const { madeAt: timestamp, isImported } = call
    const row = { type: 'call', key: `call ${id}`, timestamp, call, media: [], inner: [] } as const
    rows.push(isImported ? { ...row, imported: true } : row)
  }

  /** Replaces the row of a call, if there is something to change. */
  #changeCall(id: string, change: (row: CallRow) => CallRow): void {
    const place = this.#callAt.get(id)
    const row = place && this.#lists.get(place.list)?.[place.at]
    if (!place || row?.type !== 'call') return
    const changed = change(row)
    if (changed !== row) this.#rows(place.list)[place.at] = changed
  }

  /** Replaces the rows of calls that have changed. A response that streams can be read before the answer that led to it. */
  #updateCalls(): void {
    for (const id of this.#callAt.keys()) {
      const call = this.#reader.call(id)
      if (call) this.#changeCall(id, (row) => (row.call === call ? row : { ...row, call }))
    }
  }

  /** Puts lists that have changed into the rows of their calls, the innermost first. */
  #nest(): void {
    const depths = new Map<string, number>()
    for (let list of this.#changed)
      for (let place = this.#callAt.get(list); place; place = this.#callAt.get(list)) {
        depths.set(list, place.depth)
        list = place.list
      }
    for (const [id] of [...depths].sort(([, one], [, other]) => other - one))
      this.#changeCall(id, (row) => ({ ...row, inner: this.#lists.get(id) ?? [] }))
  }

  #addEffects(event: Event, list: string): void {
    const { id, author, actions, errorCode, errorMessage = '' } = event
    const base = { timestamp: event.timestamp, ...importOf(event) }
    const add = (row: ChatRow): void => void this.#rows(list).push(row)
    for (const [filename, version] of Object.entries(actions?.artifactDelta ?? {}))
      add({ ...base, type: 'artifact', key: `${id} artifact ${filename}`, filename, version })
    const target = actions?.transferToAgent
    if (target) add({ ...base, type: 'note', key: `${id} transfer`, text: `${author} handed over to ${target}` })
    if (errorCode === 'CANCELLED') add({ ...base, type: 'note', key: `${id} error`, text: errorMessage || 'Stopped' })
    else if (errorCode !== undefined) {
      const replyId = errorCode === 'MODEL_ERROR' ? id : undefined
      add({ ...base, type: 'error', key: `${id} error`, code: errorCode, message: errorMessage, replyId })
    }
  }

  /** Removes messages that the server refused. */
  #dropUnconfirmed(recent: LogView['recent']): void {
    const rows = this.#rows(TOP)
    const isDropped = ({ type, key }: ChatRow): boolean =>
      type === 'user' && isLocal(key) && !recent.some(({ id }) => id === key)
    // they are always at the end, so that no index changes
    while (rows.length > 0 && isDropped(rows.at(-1) as ChatRow)) rows.pop()
    this.#localAt = this.#localAt.filter((at) => at < rows.length)
  }
}

/** Is it a message to an agent? On the wire, responses have the role of the user, too. */
function isInstruction({ content }: Event): boolean {
  return content?.role === 'user' && !content.parts.some(({ functionResponse }) => functionResponse)
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

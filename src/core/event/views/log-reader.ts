import type { Event, NewEntry } from '../event.ts'
import { InvocationReader } from './invocation-reader.ts'
import { toNormalEvent, toWholeEvent } from './normal-event.ts'
import type { CallView, InvocationView } from './views.ts'

/**
 * Reads a log, entry by entry, and says what it means: invocations, scopes, calls and requests. Everything that shows a log
 * renders these views. It also reads events without records, and a log that begins in the middle: what refers to earlier entries
 * is left out then.
 *
 * @example
 * const log = readLog(entries)
 * for (const { name, status } of log.calls()) console.log(name, status)
 */
export class LogReader {
  readonly #invocations: Map<string, InvocationReader> = new Map()
  /** The invocation of each call, by call id. */
  readonly #owners: Map<string, InvocationReader> = new Map()
  readonly #eventIds: Set<string> = new Set()
  /** The target of the latest transfer at the root: the next invocation starts with this agent. */
  #active: string | undefined
  #count = 0

  /** Adds the next entry. Partial events, and events that were added before, are ignored. */
  add(entry: NewEntry & { readonly seq?: number }): void {
    const { event, record, seq = ++this.#count } = entry
    if (record) {
      const reader = this.#reader(record.invocationId)
      reader.add({ record }, seq)
      if (record.type === 'request') this.#owners.set(record.callId, reader)
    } else if (!event.partial && !this.#eventIds.has(event.id)) {
      if (event.id !== '') this.#eventIds.add(event.id)
      this.#addEvent(event, seq)
    }
  }

  /** The invocations, in order. */
  invocations(): InvocationView[] {
    return Array.from(this.#invocations.values(), (reader) => reader.view())
  }

  /** An invocation. Undefined if the log has no entry of it. */
  invocation(id: string): InvocationView | undefined {
    return this.#invocations.get(id)?.view()
  }

  /** The calls of all invocations, in order. */
  calls(): CallView[] {
    return this.invocations().flatMap(({ calls }) => calls)
  }

  /** A call. The same object until the call changes. Undefined if the log has no such call. */
  call(id: string): CallView | undefined {
    return this.#owners.get(id)?.call(id)
  }

  /** The call whose agent or code made an event. Undefined for an event outside of calls. */
  callAround({ invocationId, nodeInfo }: Pick<Event, 'invocationId' | 'nodeInfo'>): CallView | undefined {
    const reader = this.#invocations.get(invocationId)
    const id = nodeInfo && reader?.callAround(nodeInfo.path)
    return id === undefined ? undefined : reader?.call(id)
  }

  #addEvent(given: Event, seq: number): void {
    const event = toWholeEvent(given)
    const reader = this.#reader(event.invocationId)
    const normal = this.#withResponseIds(toNormalEvent(event, this.#pathOfCall(event) ?? stepOf(event.author)), reader)
    reader.add({ event: normal }, seq)
    const { nodeInfo, actions } = normal
    if (actions?.transferToAgent && !nodeInfo?.path.includes('/')) this.#active = actions.transferToAgent
    for (const { functionCall, executableCode, functionResponse } of normal.content?.parts ?? []) {
      const id = functionCall?.id ?? executableCode?.id
      if (id !== undefined && reader.callState(id) && !this.#owners.has(id)) this.#owners.set(id, reader)
      const owner = this.#owners.get(functionResponse?.id ?? '')
      if (owner && owner !== reader) this.#addToOwner(owner, normal, functionResponse?.id ?? '', seq)
    }
  }

  /** The scope of the call that an event responds to. */
  #pathOfCall({ nodeInfo, content }: Event): string | undefined {
    const id = nodeInfo ? undefined : content?.parts.find((part) => part.functionResponse)?.functionResponse?.id
    return id === undefined ? undefined : this.#owners.get(id)?.callState(id)?.path
  }

  /** Other programs record the result of a long-running call in the invocation that brought it. */
  #addToOwner(owner: InvocationReader, event: Event, callId: string, seq: number): void {
    const state = owner.callState(callId)
    const parts = event.content?.parts.filter(({ functionResponse }) => functionResponse?.id === callId)
    if (!state || !parts) return
    const scoped = event.author === 'user' ? event : { ...event, nodeInfo: { path: state.path } }
    owner.add({ event: { ...scoped, actions: {}, content: { role: 'tool', parts } } }, seq)
  }

  /** Other programs record responses without ids: each belongs to the first open call of its tool. */
  #withResponseIds(event: Event, reader: InvocationReader): Event {
    const { content } = event
    if (!content?.parts.some(({ functionResponse }) => functionResponse && !functionResponse.id)) return event
    const parts = content.parts.map((part) => {
      const { functionResponse } = part
      const id = functionResponse && !functionResponse.id ? reader.openCallOf(functionResponse.name) : undefined
      return functionResponse && id !== undefined ? { ...part, functionResponse: { ...functionResponse, id } } : part
    })
    return { ...event, content: { ...content, parts } }
  }

  #reader(invocationId: string): InvocationReader {
    let reader = this.#invocations.get(invocationId)
    if (!reader) {
      reader = new InvocationReader(invocationId, this.#active)
      this.#invocations.set(invocationId, reader)
    }
    return reader
  }
}

/** The scope of an event without a path. Other programs choose the names of authors: a name is never a path of several scopes. */
function stepOf(author: string): string {
  return author.includes('/') ? author.replaceAll('/', '_') : author
}

/** Reads entries of a log, or events without records. */
export function readLog(entries: Iterable<NewEntry & { readonly seq?: number }>): LogReader {
  const reader = new LogReader()
  for (const entry of entries) reader.add(entry)
  return reader
}

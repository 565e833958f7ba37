// A recorded log as a replay needs it: the replies of each scope, the result of each call, and what the user sent.
import type { JsonObject } from '../../../core/base/json.ts'
import { isHandle, type Part } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Event, NewEntry, RequestRecord } from '../../../core/event/event.ts'
import { type LogReader, readLog } from '../../../core/event/views/log-reader.ts'
import type { CallView } from '../../../core/event/views/views.ts'
import type { Recording } from './recording.ts'

/** What the body of a call did, as far as the log tells. */
export interface RecordedBody {
  /** The call. */
  readonly call: CallView
  /** The requests that the body made, in groups: the body ran once more after each. */
  readonly requests: readonly (readonly RequestRecord[])[]
  /** The event with the handle of a long-running call. */
  readonly handledBy: Event | undefined
  /** The event with the final response. */
  readonly endedBy: Event | undefined
  /** Did the body end the enclosing loop? */
  readonly escalates: boolean
}

/** Opens the log of a recording, which a file may hold in any shape. Throws INVALID_CONFIG if it cannot be read. */
export function openRecordedLog({ entries }: Pick<Recording, 'entries'>): RecordedLog {
  try {
    return new RecordedLog(entries)
  } catch (cause) {
    const problem = `The recording has entries that cannot be read: ${messageOf(cause)}`
    const advice = 'Record the case again: toolwright eval record <session>'
    throw new ToolwrightError('INVALID_CONFIG', `${problem}. ${advice}.`, { cause })
  }
}

/** A recorded log. */
export class RecordedLog {
  /** The views of the log. */
  readonly reader: LogReader
  /** What the user sent, in order: messages, answers and changes of state. */
  readonly ofUser: readonly Event[]
  readonly #entries: readonly NewEntry[]
  readonly #replies: Map<string, Event[]> = new Map()
  readonly #events: Map<string, Event> = new Map()
  readonly #positions: Map<string, number>
  readonly #handles: Map<string, Event> = new Map()
  readonly #requests: Map<string, RequestRecord[][]> = new Map()
  readonly #escalating: Set<string> = new Set()

  constructor(entries: readonly NewEntry[]) {
    this.#entries = entries
    this.reader = readLog(entries)
    for (const { event } of entries) if (event) this.#events.set(event.id, event)
    this.#positions = new Map([...this.#events.keys()].map((id, at) => [id, at]))
    this.ofUser = [...this.#events.values()].filter(({ author }) => author === 'user')
    for (const { replies } of this.reader.invocations()) {
      for (const { eventId, isModel, path } of replies) {
        const event = this.#events.get(eventId)
        if (isModel && event) this.#replies.set(path, [...(this.#replies.get(path) ?? []), event])
      }
    }
    this.#readEvents()
    this.#readRequests()
  }

  /** The replies of models in a scope, in order. */
  replies(path: string): readonly Event[] {
    return this.#replies.get(path) ?? []
  }

  /** The position of an event among all events. Infinite for one that the log does not have. */
  positionOf(event: Event | undefined): number {
    return this.#positions.get(event?.id ?? '') ?? Infinity
  }

  /** The calls of tools and code, in order. */
  calls(): readonly CallView[] {
    return this.reader.calls().filter(({ kind }) => kind !== 'toolset')
  }

  /** What the body of a call did. Undefined if the log has no such call. */
  body(callId: string): RecordedBody | undefined {
    const call = this.reader.call(callId)
    if (!call) return undefined
    const endedBy = this.#events.get(call.responseId ?? '')
    return {
      call,
      requests: this.#requests.get(callId) ?? [],
      handledBy: this.#handles.get(callId),
      endedBy,
      escalates: endedBy !== undefined && this.#escalating.has(endedBy.id),
    }
  }

  /** The requests of the log, by id. */
  requestRecords(): RequestRecord[] {
    return this.#entries.flatMap(({ record }) => (record?.type === 'request' ? record : []))
  }

  #readEvents(): void {
    const latest = new Map<string, Event>()
    for (const event of this.#events.values()) {
      const path = event.nodeInfo?.path ?? ''
      for (const { functionResponse } of event.content?.parts ?? []) {
        const id = functionResponse?.id ?? ''
        if (functionResponse && isHandle(functionResponse) && !this.#handles.has(id)) this.#handles.set(id, event)
      }
      const before = latest.get(path)
      if (event.actions.escalate && !event.content && before) this.#escalating.add(before.id)
      latest.set(path, event)
    }
  }

  /** A request belongs to the group before it, until one of that group is answered. */
  #readRequests(): void {
    const answered = new Set<string>()
    for (const { event, record } of this.#entries) {
      for (const { functionResponse } of event?.author === 'user' ? (event.content?.parts ?? []) : [])
        answered.add(functionResponse?.id ?? '')
      if (record?.type !== 'request' || record.origin !== 'body') continue
      const groups = this.#requests.get(record.callId) ?? []
      const last = groups.at(-1)
      if (last && !last.some(({ id }) => answered.has(id))) last.push(record)
      else groups.push([record])
      this.#requests.set(record.callId, groups)
    }
  }
}

/** The media of a response: the parts after it, up to the next response. */
export function mediaOf(event: Event, callId: string): Part[] {
  const parts = event.content?.parts ?? []
  const from = parts.findIndex(({ functionResponse }) => functionResponse?.id === callId) + 1
  const media: Part[] = []
  for (const part of from > 0 ? parts.slice(from) : []) {
    if (part.functionResponse || part.codeExecutionResult) break
    media.push(part)
  }
  return media
}

/** The writes of an event as JSON: state and artifacts. */
export function writesOf({ actions }: Event): {
  readonly state: JsonObject
  readonly artifacts: { readonly [filename: string]: number }
} {
  return { state: actions.stateDelta ?? {}, artifacts: actions.artifactDelta ?? {} }
}

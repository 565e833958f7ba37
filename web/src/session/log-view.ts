import type { FunctionResponse } from '../../../src/core/content/content.ts'
import type { Entry, Event } from '../../../src/core/event/event.ts'

/** What the page knows about the log of a session. */
export interface LogView {
  /** The entries read so far, in order and without gaps. */
  readonly entries: readonly Entry[]
  /** Stored events of the run under way that are not among `entries` yet, and the message just sent. */
  readonly recent: readonly Event[]
  /** The replies and the progress that are streaming: one event per author, or per call. */
  readonly streaming: readonly Event[]
  /** The ids under which stored events were streaming before, so that their rows stay the same. */
  readonly streamedAs: ReadonlyMap<string, string>
  /** The state of the page. `failed`: the log cannot be read. */
  readonly status: 'loading' | 'ready' | 'failed'
  /** Are there entries before the first of `entries`? */
  readonly hasEarlier: boolean
  /** Is a run under way? */
  readonly isRunning: boolean
  /** Why the last request failed. */
  readonly error: unknown
}

/** A log of which nothing is known yet. */
export const EMPTY_VIEW: LogView = {
  entries: [],
  recent: [],
  streaming: [],
  streamedAs: new Map(),
  status: 'loading',
  hasEarlier: false,
  isRunning: false,
  error: undefined,
}

/** Adds a page of entries after the known ones. Events among them are no longer `recent`. */
export function withEntries(view: LogView, page: readonly Entry[]): LogView {
  const last = view.entries.at(-1)?.seq ?? 0
  const added = page.filter(({ seq }) => seq > last)
  const ids = new Set(added.flatMap(({ event }) => (event ? [event.id] : [])))
  const hasUser = added.some(({ event }) => event?.author === 'user')
  const recent = view.recent.filter(({ id }) => !ids.has(id) && !(hasUser && isLocal(id)))
  return { ...view, entries: added.length > 0 ? [...view.entries, ...added] : view.entries, recent }
}

/** Adds an event of a run. A partial one replaces or continues what is streaming. */
export function withEvent(view: LogView, event: Event, isStored: boolean): LogView {
  if (event.partial) return { ...view, streaming: addPartial(view.streaming, event) }
  const streaming = view.streaming.filter((partial) => !isCompletedBy(partial, event))
  const streamed = view.streaming.find((partial) => !progressOf(partial) && isCompletedBy(partial, event))
  const streamedAs = streamed ? new Map([...view.streamedAs, [event.id, streamed.id]]) : view.streamedAs
  if (isStored || view.recent.some(({ id }) => id === event.id)) return { ...view, streaming, streamedAs }
  return { ...view, streaming, streamedAs, recent: [...view.recent, event] }
}

const LOCAL_PREFIX = 'local-'
let localCount = 0

/** The id of a message that the server has not confirmed yet. */
export function newLocalId(): string {
  return `${LOCAL_PREFIX}${++localCount}`
}

/** Is it the id of a message that the server has not confirmed yet? */
export function isLocal(id: string): boolean {
  return id.startsWith(LOCAL_PREFIX)
}

function addPartial(streaming: readonly Event[], event: Event): readonly Event[] {
  const at = streaming.findIndex((one) => streamKey(one) === streamKey(event))
  const before = streaming[at]
  if (!before) return [...streaming, event]
  return streaming.with(at, progressOf(event) ? event : continued(before, event))
}

/** Streamed text arrives in pieces; a piece of the same kind is added to the last part. */
function continued(before: Event, event: Event): Event {
  const parts = [...(before.content?.parts ?? [])]
  for (const part of event.content?.parts ?? []) {
    const last = parts.at(-1)
    if (last?.text !== undefined && part.text !== undefined && last.thought === part.thought)
      parts[parts.length - 1] = { ...last, text: last.text + part.text }
    else parts.push(part)
  }
  return { ...before, content: { role: 'model', parts } }
}

/** Text streams per agent and branch, progress per call. */
function streamKey(event: Event): string {
  const call = progressOf(event)
  return call ? `call ${call.id}` : textKey(event)
}

function textKey({ author, branch, nodeInfo }: Event): string {
  return `text ${author} ${branch ?? ''} ${nodeInfo?.path ?? ''}`
}

function progressOf(event: Event): FunctionResponse | undefined {
  return event.content?.parts.find((part) => part.functionResponse)?.functionResponse
}

function isCompletedBy(partial: Event, event: Event): boolean {
  const progress = progressOf(partial)
  if (progress) return event.content?.parts.some((part) => part.functionResponse?.id === progress.id) === true
  return event.author !== 'user' && textKey(partial) === textKey(event)
}

// Searches the sessions of an app, the newest first, a bounded part of them per request: a store may have many thousands.
import { jsonSize } from '../../../core/base/json.ts'
import type { Entry } from '../../../core/event/event.ts'
import type { FoundSession, SessionService } from '../../../services/session/service.ts'
import { restAfter } from '../guard/pace.ts'
import { findCandidates } from './candidates.ts'
import {
  describeSession,
  type RunState,
  readEntries,
  runState,
  type SessionItem,
  stateOfStore,
} from './session-items.ts'

/** What to search for. Every member that is there must fit. */
export interface SessionQuery {
  /** The app. */
  readonly appName: string
  /** The user; undefined for all users. */
  readonly userId: string | undefined
  /** One session. */
  readonly sessionId: string | undefined
  /** A part of a message, a name or an id, in any case. */
  readonly text: string
  /** A part of the name of a tool that was called, in any case. */
  readonly tool: string
  /** How the last run went. */
  readonly state: RunState | undefined
  /** Changed at this time or later, in seconds since the epoch. */
  readonly since: number
  /** Changed before this time. */
  readonly before: number
}

/** Which part of the search to do. */
export interface SearchRange {
  /** About how many sessions to find. */
  readonly limit: number
  /** Where an earlier part has ended. */
  readonly after: string | undefined
  /** Leaves out sessions that no list shows. */
  isShown(session: FoundSession): boolean
  /** Ends the search when the client has left. */
  readonly signal: AbortSignal
}

/** A part of a search. */
export interface SearchPart {
  /** The sessions found, the newest first. */
  readonly sessions: readonly SessionItem[]
  /** How many sessions were looked at. */
  readonly searched: number
  /** Where the search goes on; undefined at its end. */
  readonly next: string | undefined
}

/** Candidates are read in pieces: a search ends between two of them. */
const PIECE = 50
/** The most work of one request. */
const MOST = { sessions: 2_000, bytes: 10_000_000, ms: 1_500 }
/** How much of a log is searched: its latest entries. */
const LATEST = { entries: 1_000, maxBytes: 1_000_000 }
const MOST_MATCH = 160

/** Searches until enough is found, or enough was searched for one request. */
export async function searchSessions(
  service: SessionService,
  query: SessionQuery,
  { limit, after, isShown, signal }: SearchRange,
): Promise<SearchPart> {
  const sessions: SessionItem[] = []
  const left = { ...MOST }
  const until = performance.now() + MOST.ms
  for (let next = after; ; ) {
    const start = performance.now()
    const page = await findCandidates(service, query, { limit: PIECE, after: next })
    for (const candidate of page.items) {
      const item = signal.aborted || !isShown(candidate) ? undefined : await match(service, candidate, query, left)
      if (item) sessions.push(item)
    }
    left.sessions -= page.items.length
    next = page.next
    const isEnough = sessions.length >= limit || left.sessions <= 0 || left.bytes <= 0 || performance.now() > until
    if (next === undefined || isEnough || signal.aborted)
      return { sessions, searched: MOST.sessions - left.sessions, next }
    await restAfter(start)
  }
}

/** The session, if it fits. What costs least is asked first. */
async function match(
  service: SessionService,
  session: FoundSession,
  query: SessionQuery,
  left: { bytes: number },
): Promise<SessionItem | undefined> {
  const { text, tool, state, before } = query
  if (session.updatedAt / 1000 >= before) return undefined
  const early = stateOfStore(session)
  if (state !== undefined && (early ?? (await runState(service, session))) !== state) return undefined
  if (text === '' && tool === '') return await describeSession(service, session)
  const entries = await readLatest(service, session)
  left.bytes -= jsonSize(entries, LATEST.maxBytes)
  if (tool !== '' && !entries.some((entry) => callsTool(entry, tool))) return undefined
  const item = await describeSession(service, session)
  if (text === '') return item
  const { name = '', firstMessage = '', id, userId } = item
  if ([name, firstMessage, id, userId].some((one) => includes(one, text))) return item
  const found = entries.map((entry) => textWith(entry, text)).find((one) => one !== undefined)
  return found === undefined ? undefined : { ...item, match: found }
}

function readLatest(service: SessionService, session: FoundSession): Promise<readonly Entry[]> {
  const fromSeq = Math.max(1, session.lastSeq - LATEST.entries + 1)
  return readEntries(service, session, { fromSeq, limit: LATEST.entries, maxBytes: LATEST.maxBytes })
}

function callsTool({ event }: Entry, tool: string): boolean {
  return event?.content?.parts.some(({ functionCall }) => includes(functionCall?.name ?? '', tool)) === true
}

/** The text around a match in the message of an entry. */
function textWith({ event }: Entry, text: string): string | undefined {
  const found = event?.content?.parts.find((part) => part.text !== undefined && includes(part.text, text))?.text
  if (found === undefined) return undefined
  const from = Math.max(0, found.toLowerCase().indexOf(text) - MOST_MATCH / 4)
  return `${from > 0 ? '…' : ''}${found.slice(from, from + MOST_MATCH)}`
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part)
}

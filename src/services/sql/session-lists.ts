import type { Event } from '../../core/event/event.ts'
import { readPagePosition } from '../session/page.ts'
import type { Page, Session, SessionService, UserUsage } from '../session/service.ts'
import { toText } from './escaped-text.ts'
import { keyOf, type RowOwner, type SessionRow } from './session-row.ts'
import type { SessionTables } from './session-tables.ts'
import type { SqlWork } from './sql.ts'

/** The most sessions whose state is read at a time. A page may end before it shows all of them. */
const ROWS_AT_A_TIME = 20

/** What a list shows of the row of a session. */
type ListedRow = RowOwner & Pick<SessionRow, 'updated_at'>

/** A session with its state and these events. */
export function* toSession({ stateRows }: SessionTables, row: ListedRow, events: readonly Event[]): SqlWork<Session> {
  const { state } = yield* stateRows.read(row)
  return sessionOf(row, state, events)
}

function sessionOf(row: ListedRow, state: Session['state'], events: readonly Event[]): Session {
  const { appName, userId, sessionId: id } = keyOf(row)
  return { id, appName, userId, state, events, lastUpdateTime: row.updated_at / 1000 }
}

/** Finds a session with the events that `config` selects. */
export function* findSession(
  tables: SessionTables,
  options: Parameters<SessionService['getSession']>[0],
): SqlWork<Session | undefined> {
  const { numRecentEvents, afterTimestamp } = options.config ?? {}
  const row = yield* tables.sessions.find(options)
  if (!row) return undefined
  if (afterTimestamp === undefined)
    return yield* toSession(tables, row, yield* tables.pages.events(row, numRecentEvents))
  const since = (yield* tables.pages.events(row)).filter(({ timestamp }) => timestamp >= afterTimestamp)
  return yield* toSession(tables, row, since.slice(Math.max(0, since.length - (numRecentEvents ?? since.length))))
}

/** Lists the sessions of a user, without events. */
export function* listSessions(
  { sessions, stateRows }: SessionTables,
  { appName, userId }: { appName: string; userId: string },
): SqlWork<Session[]> {
  const rows = yield* sessions.list({ appName, userId })
  const listed: Session[] = []
  for (let at = 0; at < rows.length; at += ROWS_AT_A_TIME) {
    const piece = yield* stateRows.readEach(rows.slice(at, at + ROWS_AT_A_TIME))
    for (const { owner, state } of piece) listed.push(sessionOf(owner, state, []))
  }
  return listed
}

/** Lists a part of the sessions of a user. State of other sessions is not read. */
export function* listSessionPage(
  { sessions, stateRows }: SessionTables,
  options: Parameters<NonNullable<SessionService['listSessionPage']>>[0],
): SqlWork<Page<Session>> {
  const { newestFirst = false, limit, maxBytes = Number.POSITIVE_INFINITY } = options
  const after = readPagePosition(options)
  const rows = yield* sessions.page(options, { after, limit: limit + 1, newestFirst }) // one more: is there a next page?
  const items: Session[] = []
  let size = 0
  for (let at = 0; at < Math.min(limit, rows.length) && size < maxBytes; at += ROWS_AT_A_TIME) {
    const piece = yield* stateRows.readEach(rows.slice(at, Math.min(at + ROWS_AT_A_TIME, limit)))
    for (const { owner, state, bytes } of piece) {
      if (size >= maxBytes) break
      items.push(sessionOf(owner, state, []))
      size += bytes
    }
  }
  return items.length < rows.length ? { items, next: String(rows[items.length - 1]?.id) } : { items }
}

/** How much a user has stored. */
export function* usageOf(
  { sessions, stateRows }: SessionTables,
  options: Parameters<NonNullable<SessionService['usage']>>[0],
): SqlWork<UserUsage> {
  const { appName, userId, sessionId, without = [] } = options
  const user = { app: toText(appName), user: toText(userId), id: 0 }
  const row = sessionId === undefined ? undefined : yield* sessions.find({ appName, userId, sessionId })
  return {
    sessions: yield* sessions.count(options),
    userState: yield* stateRows.size(user, without),
    sessionState: row ? yield* stateRows.size(row, without) : { keys: 0, bytes: 0 },
  }
}

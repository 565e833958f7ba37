import type { JsonObject } from '../../../src/core/base/json.ts'
import type { Entry } from '../../../src/core/event/event.ts'
import type { AgentVariant } from '../what-if/variant.ts'
import { pathOf, requestJson } from './request.ts'
import type { SessionFilter, SessionItem, SessionKey, WireSession } from './types.ts'

/** The path of a session. */
export function sessionPath({ app, userId, sessionId }: SessionKey): string {
  return pathOf('apps', app, 'users', userId, 'sessions', sessionId)
}

/** Which sessions to find. */
export interface SessionSearch extends Partial<SessionFilter> {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly userId: string
  /** Only this session. */
  readonly session?: string | undefined
  /** About how many sessions to find. */
  readonly limit?: string
  /** Where the part before has ended. */
  readonly cursor?: string | undefined
}

/** A part of the sessions that were found. */
export interface FoundSessions {
  /** The sessions. */
  readonly sessions: readonly SessionItem[]
  /** How many sessions the server has looked at. */
  readonly searched: number
  /** Where the next part starts; undefined at the end. */
  readonly next?: string
}

/** Finds sessions, those that were created last first. */
export function findSessions(search: SessionSearch): Promise<FoundSessions> {
  const { app, userId, since, until, allUsers, ...more } = search
  const query = {
    ...more,
    user: allUsers ? undefined : userId,
    since: secondsAt(since),
    before: secondsAt(until, 1),
  }
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return requestJson(`/dev${pathOf('apps', app, 'sessions')}?${new URLSearchParams(given)}`)
}

/** The start of a day, or of one after it, in seconds since the epoch. */
function secondsAt(day: string | undefined, later = 0): string | undefined {
  if (!day) return undefined
  const date = new Date(`${day}T00:00`)
  date.setDate(date.getDate() + later)
  return String(date.getTime() / 1000)
}

/** Lists the users of an app, the latest active first. */
export async function listUsers(app: string): Promise<readonly string[]> {
  const { users } = await requestJson<{ users: { userId: string }[] }>(`/dev${pathOf('apps', app, 'users')}`)
  return users.map(({ userId }) => userId)
}

/** Reads the state of a session. Its events are in the log. */
export function getSessionState(key: SessionKey): Promise<WireSession> {
  return requestJson(`${sessionPath(key)}?limit=1`)
}

/** Creates a session, with imported events if there are any. */
export function createSession(
  app: string,
  userId: string,
  state: JsonObject = {},
  events?: readonly unknown[],
): Promise<WireSession> {
  return requestJson(pathOf('apps', app, 'users', userId, 'sessions'), { body: { state, events } })
}

/** Reads a session, with its events and state. */
export function getSession(key: SessionKey, signal?: AbortSignal): Promise<WireSession> {
  return requestJson(sessionPath(key), { signal })
}

/** Deletes a session. */
export async function deleteSession(key: SessionKey): Promise<void> {
  await requestJson(sessionPath(key), { method: 'DELETE' })
}

/** Changes the state of a session. `null` deletes a key. */
export function updateState(key: SessionKey, stateDelta: JsonObject): Promise<WireSession> {
  return requestJson(sessionPath(key), { method: 'PATCH', body: { stateDelta } })
}

/** How a copy of a session differs from it. */
export interface CopyOptions {
  /** The copy ends before this invocation. */
  readonly invocationId: string
  /** The name of the copy. */
  readonly name: string
  /** What its agents do differently. Default: nothing. */
  readonly whatIf: readonly AgentVariant[] | undefined
}

/** Copies a session up to an invocation. */
export function forkSession(key: SessionKey, options: CopyOptions): Promise<WireSession> {
  return requestJson(`/dev${sessionPath(key)}/fork`, { body: options })
}

/** A page of the log of a session. */
export interface LogPage {
  /** Events and records, in order. */
  readonly entries: readonly Entry[]
  /** The number of the last entry of the log; 0 if it is empty. */
  readonly lastSeq: number
}

/** Reads a page of the log, events and records. */
export function readLog(
  key: SessionKey,
  page: { fromSeq: number; limit: number },
  signal?: AbortSignal,
): Promise<LogPage> {
  const query = new URLSearchParams({ fromSeq: String(page.fromSeq), limit: String(page.limit) })
  return requestJson(`/dev${sessionPath(key)}/log?${query}`, { signal })
}

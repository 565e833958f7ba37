import type { JsonObject } from '../../../src/core/base/json.ts'
import type { Entry } from '../../../src/core/event/event.ts'
import type { AgentVariant } from '../what-if/variant.ts'
import { type ListPage, pathOf, requestJson, requestPage } from './request.ts'
import type { SessionKey, WireSession } from './types.ts'

/** The path of a session. */
export function sessionPath({ app, userId, sessionId }: SessionKey): string {
  return pathOf('apps', app, 'users', userId, 'sessions', sessionId)
}

/** Lists sessions of a user, without their events: the newest first, from `cursor` on. */
export function listSessions(app: string, userId: string, cursor?: string): Promise<ListPage<WireSession>> {
  return requestPage(pathOf('apps', app, 'users', userId, 'sessions'), { limit: 100, cursor, newestFirst: true })
}

/** The start of the first messages of at most 20 sessions. Sessions without one are left out. */
export async function listFirstMessages(
  app: string,
  userId: string,
  ids: readonly string[],
): Promise<readonly { readonly sessionId: string; readonly text: string }[]> {
  const query = new URLSearchParams(ids.map((id) => ['session', id]))
  const path = `/dev${pathOf('apps', app, 'users', userId, 'first-messages')}?${query}`
  return (await requestJson<{ messages: { sessionId: string; text: string }[] }>(path)).messages
}

/** Reads the state of a session. Its events are in the log. */
export function getSessionState(key: SessionKey): Promise<WireSession> {
  return requestJson(`${sessionPath(key)}?limit=1`)
}

/** Creates a session. */
export function createSession(app: string, userId: string, state: JsonObject = {}): Promise<WireSession> {
  return requestJson(pathOf('apps', app, 'users', userId, 'sessions'), { body: { state } })
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

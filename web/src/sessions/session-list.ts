import { isRecord } from '../../../src/core/base/json.ts'
import { isOffline } from '../api/api-error.ts'
import { createSession, deleteSession, getSessionState, listSessions, updateState } from '../api/sessions.ts'
import type { SessionKey, WireSession } from '../api/types.ts'
import { route } from '../state/route.ts'
import { type Signal, signal } from '../state/signal.ts'
import { readFirstMessages, withFirstMessages } from './first-messages.ts'

/** Where adk-web keeps the name of a session, too. */
const METADATA = '__session_metadata__'

/** The sessions of one user in one app. */
export interface SessionList {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly userId: string
  /** The sessions, the latest first; undefined while they load. */
  readonly sessions: readonly WireSession[] | undefined
  /** Are there sessions that are not in the list? */
  readonly hasMore?: boolean
  /** Why they could not be read. */
  readonly error?: unknown
}

/** The list that the page shows. */
export const sessionList: Signal<SessionList> = signal<SessionList>({ app: '', userId: '', sessions: undefined })

/** Shows the sessions of a user. */
export async function showSessions(app: string, userId: string): Promise<void> {
  const { value } = sessionList
  if (value.app !== app || value.userId !== userId) {
    pages = 1
    sessionList.set({ app, userId, sessions: undefined })
  }
  await refreshSessions()
}

let lastRead = 0
let pages = 1

/** Reads more sessions. */
export async function showMoreSessions(): Promise<void> {
  pages++
  await refreshSessions()
}

/** Reads the sessions again. An answer that arrives after a later one is dropped. */
export async function refreshSessions(): Promise<void> {
  const { app, userId } = sessionList.value
  if (app === '') return
  const read = ++lastRead
  const isCurrent = (): boolean => read === lastRead
  try {
    const { sessions, hasMore } = await readSessions(app, userId)
    sessions.sort((one, other) => other.lastUpdateTime - one.lastUpdateTime)
    if (!isCurrent()) return
    sessionList.set({ app, userId, sessions: withFirstMessages(sessions), hasMore })
    const hasNew = await readFirstMessages(sessions.filter((session) => givenName(session) === undefined))
    if (hasNew && isCurrent()) sessionList.set({ app, userId, sessions: withFirstMessages(sessions), hasMore })
  } catch (error) {
    // the page says that the server is away, and reads the sessions again when it is back
    if (isCurrent() && !isOffline(error)) sessionList.update((list) => ({ ...list, error }))
  }
}

/** The newest sessions, and the open one. */
async function readSessions(app: string, userId: string): Promise<{ sessions: WireSession[]; hasMore: boolean }> {
  const sessions: WireSession[] = []
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const { items, next } = await listSessions(app, userId, cursor)
    sessions.push(...items)
    cursor = next
    if (cursor === undefined) break
  }
  const { value } = route
  const open = value.view === 'session' && value.app === app ? value.sessionId : undefined
  if (cursor !== undefined && open !== undefined && !sessions.some(({ id }) => id === open)) {
    const key = { app, userId, sessionId: open }
    sessions.push(
      ...(await getSessionState(key).then(
        (session) => [session],
        () => [], // the view of the session shows the error
      )),
    )
  }
  return { sessions, hasMore: cursor !== undefined }
}

/** Creates a session with a name made from its first message. */
export async function startSession(app: string, userId: string, message: string): Promise<SessionKey> {
  const name = nameFrom(message)
  const session = await createSession(app, userId, name === '' ? {} : { [METADATA]: { displayName: name } })
  void refreshSessions()
  return { app, userId, sessionId: session.id }
}

/** Renames a session. */
export async function renameSession(key: SessionKey, name: string): Promise<void> {
  await updateState(key, { [METADATA]: { displayName: name } })
  await refreshSessions()
}

/** Deletes a session. */
export async function removeSession(key: SessionKey): Promise<void> {
  await deleteSession(key)
  await refreshSessions()
}

/** The name of a session: the one the user gave it, else its first message, else its id. */
export function sessionName(session: Pick<WireSession, 'id' | 'state' | 'firstMessage'>): string {
  return givenName(session) ?? (nameFrom(session.firstMessage ?? '') || session.id)
}

function givenName({ state }: Pick<WireSession, 'state'>): string | undefined {
  const metadata = state[METADATA]
  const name = isRecord(metadata) ? metadata.displayName : undefined
  return typeof name === 'string' && name.trim() !== '' ? name : undefined
}

const MOST_NAME = 60

function nameFrom(message: string): string {
  const line = message.trim().split('\n')[0] ?? ''
  return line.length > MOST_NAME ? `${line.slice(0, MOST_NAME - 1)}…` : line
}

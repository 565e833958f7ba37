import { isOffline } from '../api/api-error.ts'
import { createSession, deleteSession, findSessions, updateState } from '../api/sessions.ts'
import type { SessionFilter, SessionItem, SessionKey } from '../api/types.ts'
import { route } from '../state/route.ts'
import { type Signal, signal } from '../state/signal.ts'

/** Where adk-web keeps the name of a session, too. */
export const METADATA = '__session_metadata__'

/** A filter that finds every session of the user. */
export const NO_FILTER: SessionFilter = { text: '', tool: '', state: '', since: '', until: '', allUsers: false }

/** The sessions of an app that the page lists. */
export interface SessionList {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly userId: string
  /** What the user searches for. */
  readonly filter: SessionFilter
  /** The sessions, the latest first; undefined while they load. */
  readonly sessions: readonly SessionItem[] | undefined
  /** The session that the page shows, if it is not in the list. */
  readonly open?: SessionItem | undefined
  /** Are there sessions that were not searched? */
  readonly hasMore?: boolean
  /** How many sessions were searched. */
  readonly searched?: number
  /** Why they could not be read. */
  readonly error?: unknown
}

/** The list that the page shows. */
export const sessionList: Signal<SessionList> = signal<SessionList>({
  app: '',
  userId: '',
  filter: NO_FILTER,
  sessions: undefined,
})

/** Shows the sessions of a user that fit. */
export async function showSessions(app: string, userId: string, filter: SessionFilter): Promise<void> {
  const { value } = sessionList
  if (value.app !== app || value.userId !== userId || value.filter !== filter) {
    wanted = STEP
    sessionList.set({ app, userId, filter, sessions: undefined })
  }
  await refreshSessions()
}

const STEP = 100
/** The most requests for one list: each of them searches thousands of sessions. */
const MOST_PARTS = 20

let lastRead = 0
let wanted = STEP

/** Reads more sessions. */
export async function showMoreSessions(): Promise<void> {
  wanted += STEP
  await refreshSessions()
}

/** Reads the sessions again. An answer that arrives after a later one is dropped. */
export async function refreshSessions(): Promise<void> {
  const { app, userId, filter } = sessionList.value
  if (app === '') return
  const read = ++lastRead
  const isCurrent = (): boolean => read === lastRead
  try {
    const sessions: SessionItem[] = []
    let searched = 0
    let cursor: string | undefined
    for (let part = 0; part < MOST_PARTS; part++) {
      const found = await findSessions({ app, userId, ...filter, cursor, limit: String(STEP) })
      if (!isCurrent()) return
      sessions.push(...found.sessions)
      searched += found.searched
      cursor = found.next
      if (cursor === undefined || sessions.length >= wanted) break
    }
    sessions.sort((one, other) => other.lastUpdateTime - one.lastUpdateTime)
    const open = await readOpen(app, userId, sessions)
    if (isCurrent()) sessionList.set({ app, userId, filter, sessions, open, searched, hasMore: cursor !== undefined })
  } catch (error) {
    // the page says that the server is away, and reads the sessions again when it is back
    if (isCurrent() && !isOffline(error)) sessionList.update((list) => ({ ...list, error }))
  }
}

/** The session that the page shows, unless the list has it. */
async function readOpen(
  app: string,
  userId: string,
  sessions: readonly SessionItem[],
): Promise<SessionItem | undefined> {
  const { value } = route
  const id = value.view === 'session' && value.app === app ? value.sessionId : undefined
  if (id === undefined || sessions.some((one) => one.id === id && one.userId === userId)) return undefined
  // the view of the session shows the error
  return (await findSessions({ app, userId, session: id }).catch(() => undefined))?.sessions[0]
}

/** A session that the page knows. */
export function knownSession(
  { sessions = [], open }: SessionList,
  { userId, sessionId }: SessionKey,
): SessionItem | undefined {
  return [...sessions, ...(open ? [open] : [])].find((one) => one.id === sessionId && one.userId === userId)
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

/** The title of a session: the name the user gave it, else its first message, else its id. */
export function sessionName({
  id,
  name,
  firstMessage = '',
}: Pick<SessionItem, 'id' | 'name' | 'firstMessage'>): string {
  return name ?? (nameFrom(firstMessage) || id)
}

const MOST_NAME = 60

function nameFrom(message: string): string {
  const line = message.trim().split('\n')[0] ?? ''
  return line.length > MOST_NAME ? `${line.slice(0, MOST_NAME - 1)}…` : line
}

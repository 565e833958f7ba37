import { listFirstMessages } from '../api/sessions.ts'
import type { WireSession } from '../api/types.ts'

/** As many as the server answers at once. */
const AT_ONCE = 20

/** The first messages that are known. They never change. */
const known = new Map<string, string>()

/** The sessions with their first messages, as far as they are known. */
export function withFirstMessages(sessions: readonly WireSession[]): WireSession[] {
  return sessions.map((session) => {
    const firstMessage = known.get(keyOf(session))
    return firstMessage === undefined ? session : { ...session, firstMessage }
  })
}

/** Reads the first messages of sessions of one user. False if there is nothing new. */
export async function readFirstMessages(sessions: readonly WireSession[]): Promise<boolean> {
  const unknown = sessions.filter((session) => !known.has(keyOf(session)))
  const before = known.size
  for (let at = 0; at < unknown.length; at += AT_ONCE) {
    const asked = unknown.slice(at, at + AT_ONCE)
    const { appName = '', userId = '' } = asked[0] ?? {}
    const ids = asked.map(({ id }) => id)
    const messages = await listFirstMessages(appName, userId, ids).catch(() => []) // the list shows ids instead
    for (const { sessionId, text } of messages) known.set(keyOf({ appName, userId, id: sessionId }), text)
  }
  return known.size > before
}

function keyOf({ appName, userId, id }: Pick<WireSession, 'appName' | 'userId' | 'id'>): string {
  return JSON.stringify([appName, userId, id])
}

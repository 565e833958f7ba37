// The names of an app and its sessions in Restate.
import type { SessionOfApp } from '../../engine/runner/work/work-item.ts'

/** The service that continues the sessions of an app: one object per session. */
export function sessionServiceOf(appName: string): string {
  return `toolwright-${encodeName(appName)}`
}

/** The service that looks for work of an app: one object. */
export function sweepServiceOf(appName: string): string {
  return `${sessionServiceOf(appName)}.sweep` // an encoded name has no dot
}

/** The key of the object that looks for work. */
export const SWEEP_KEY = 'app'

/** The key of the object of a session: different for each user and session, whatever characters the ids contain. */
export function keyOfSession({ userId, sessionId }: SessionOfApp): string {
  return JSON.stringify([userId, sessionId])
}

/** The session of a key. Undefined if no session has it. */
export function sessionOfKey(key: string): SessionOfApp | undefined {
  try {
    const parsed: unknown = JSON.parse(key)
    if (!Array.isArray(parsed) || parsed.length !== 2) return undefined
    const [userId, sessionId] = parsed as unknown[]
    if (typeof userId !== 'string' || typeof sessionId !== 'string') return undefined
    const session = { userId, sessionId }
    return keyOfSession(session) === key ? session : undefined // one session never has two keys
  } catch {
    return undefined
  }
}

/** Service names have letters, digits and `-`. Other bytes become `_` and two hexadecimal digits. */
function encodeName(name: string): string {
  let encoded = ''
  for (const byte of new TextEncoder().encode(JSON.stringify(name).slice(1, -1))) {
    const character = String.fromCharCode(byte)
    encoded += /[A-Za-z0-9-]/.test(character) ? character : `_${byte.toString(16).padStart(2, '0')}`
  }
  return encoded
}

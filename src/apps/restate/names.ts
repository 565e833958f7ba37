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

/** The service that runs the bodies of background calls of an app: one object per call. */
export function backgroundServiceOf(appName: string): string {
  return `${sessionServiceOf(appName)}.background`
}

/** The key of the object that looks for work. */
export const SWEEP_KEY = 'app'

/** The key of the object of a session: different for each user and session, whatever characters the ids contain. */
export function keyOfSession({ userId, sessionId }: SessionOfApp): string {
  return JSON.stringify([userId, sessionId])
}

/** The session of a key. Undefined if no session has it. */
export function sessionOfKey(key: string): SessionOfApp | undefined {
  const [userId, sessionId, ...more] = textsIn(key)
  if (userId === undefined || sessionId === undefined || more.length > 0) return undefined
  const session = { userId, sessionId }
  return keyOfSession(session) === key ? session : undefined // one session never has two keys
}

/** A background call of an app. */
export interface CallOfApp extends SessionOfApp {
  /** The id of the call. */
  readonly callId: string
}

/** The key of the object of a background call. */
export function keyOfCall({ userId, sessionId, callId }: CallOfApp): string {
  return JSON.stringify([userId, sessionId, callId])
}

/** The background call of a key. Undefined if no call has it. */
export function callOfKey(key: string): CallOfApp | undefined {
  const [userId, sessionId, callId, ...more] = textsIn(key)
  if (userId === undefined || sessionId === undefined || callId === undefined || more.length > 0) return undefined
  const call = { userId, sessionId, callId }
  return keyOfCall(call) === key ? call : undefined // one call never has two keys
}

/** The texts of a key; empty if it is not one of ours. */
function textsIn(key: string): string[] {
  try {
    const parsed: unknown = JSON.parse(key)
    if (!Array.isArray(parsed)) return []
    return parsed.every((part): part is string => typeof part === 'string') ? parsed : []
  } catch {
    return []
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

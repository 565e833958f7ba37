import type { SessionKey } from '../api/types.ts'
import { refreshPending } from '../inbox/pending-store.ts'
import { refreshSessions } from '../sessions/session-list.ts'
import { SessionLog } from './session-log.ts'

/** Logs of sessions that the page keeps; a run under way needs its log, also while another session is shown. */
const MOST_LOGS = 6
const logs = new Map<string, SessionLog>()

/** The log of a session. It is opened, or brought up to date. */
export function openLog(key: SessionKey): SessionLog {
  const name = JSON.stringify([key.app, key.userId, key.sessionId])
  const log = logs.get(name) ?? new SessionLog(key, refreshLists)
  logs.delete(name)
  logs.set(name, log)
  void log.open()
  closeIdle()
  return log
}

/** Brings all logs up to date after a break of the connection. */
export function reopenLogs(): void {
  for (const log of logs.values()) void log.open()
}

/** Reads what another client has added to a log, if the page has not read it yet. */
export function updateLog({ app, userId, sessionId }: SessionKey, lastSeq: number): void {
  logs.get(JSON.stringify([app, userId, sessionId]))?.update(lastSeq)
}

/** Forgets the log of a deleted session. */
export function forgetLog({ app, userId, sessionId }: SessionKey): void {
  const name = JSON.stringify([app, userId, sessionId])
  logs.get(name)?.close()
  logs.delete(name)
}

function closeIdle(): void {
  for (const [name, log] of logs) {
    if (logs.size <= MOST_LOGS) return
    if (log.view.value.isRunning) continue
    log.close()
    logs.delete(name)
  }
}

function refreshLists(): void {
  void refreshPending()
  void refreshSessions()
}

import { readStream } from './read-stream.ts'
import { sessionPath } from './sessions.ts'
import type { SessionKey } from './types.ts'

/** What the page must read again if it differs from before. */
export interface Changes {
  /** Identifies the set of pending requests. */
  readonly pending: string
  /** The number of the last entry of the session's log; undefined without a session. */
  readonly lastSeq?: number
}

/** Yields when pending requests, or the log of a session, have changed, and every ten seconds. Ends with the server. */
export function streamChanges(session: SessionKey | undefined, signal: AbortSignal): AsyncGenerator<Changes, void> {
  return readStream(`/dev${session ? sessionPath(session) : ''}/changes`, { signal })
}

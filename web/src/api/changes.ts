import { readStream } from './read-stream.ts'
import { sessionPath } from './sessions.ts'
import type { SessionKey } from './types.ts'

/** What the page must read again if it differs from before. */
export interface Changes {
  /** Identifies the set of pending requests. */
  readonly pending: string
  /** The number of the last entry of the session's log; undefined without a session. */
  readonly lastSeq?: number
  /** Identifies the latest sessions of the list; undefined without a list. */
  readonly sessions?: string
}

/** What the page shows. */
export interface Watched {
  /** The session. */
  readonly session: SessionKey | undefined
  /** The list of sessions: its app, and its user unless it has those of all users. */
  readonly list: { readonly app: string; readonly user?: string } | undefined
}

/** Yields when pending requests, the log of a session, or a list have changed, and every ten seconds. Ends with the server. */
export function streamChanges({ session, list }: Watched, signal: AbortSignal): AsyncGenerator<Changes, void> {
  return readStream(`/dev${session ? sessionPath(session) : ''}/changes?${new URLSearchParams(list)}`, { signal })
}

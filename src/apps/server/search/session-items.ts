// What lists of the workbench say about a session: its name, its first message, and how its last run went.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Entry } from '../../../core/event/event.ts'
import type { FoundSession, SessionService } from '../../../services/session/service.ts'
import { firstTextIn, START } from '../routes/dev/first-messages.ts'
import { WHAT_IF } from '../what-if/what-ifs.ts'

/** How a session is doing. `new`: nothing has run in it. */
export type RunState = 'running' | 'waiting' | 'failed' | 'cancelled' | 'completed' | 'new'

/** All of them. */
export const RUN_STATES: readonly RunState[] = ['running', 'waiting', 'failed', 'cancelled', 'completed', 'new']

/** A session of a list. */
export interface SessionItem {
  /** The user. */
  readonly userId: string
  /** The id of the session. */
  readonly id: string
  /** The name that a user has given it. */
  readonly name?: string
  /** The start of its first message. */
  readonly firstMessage?: string
  /** How its last run went. */
  readonly state: RunState
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number
  /** What the agents of a what-if copy do differently. */
  readonly whatIf?: unknown
  /** The text that was found. */
  readonly match?: string
}

/** The end of a log tells how its last run ended. */
const END = { limit: 5, maxBytes: 100_000 }

/** Describes a session from its state, and from the start and the end of its log. */
export async function describeSession(service: SessionService, session: FoundSession): Promise<SessionItem> {
  const { userId, sessionId: id, updatedAt } = session
  const stored = await readState(service, session)
  const name = nameIn(stored)
  const start = session.lastSeq === 0 ? [] : await readEntries(service, session, START)
  const firstMessage = firstTextIn(start)
  return {
    userId,
    id,
    ...(name !== undefined && { name }),
    ...(firstMessage !== undefined && { firstMessage }),
    ...(stored[WHAT_IF] !== undefined && { whatIf: stored[WHAT_IF] }),
    state: await runState(service, session, start),
    lastUpdateTime: updatedAt / 1000,
  }
}

/** How the last run of a session went. `known`: the first entries of its log. */
export async function runState(
  service: SessionService,
  session: FoundSession,
  known: readonly Entry[] = [],
): Promise<RunState> {
  const early = stateOfStore(session)
  if (early !== undefined) return early
  const isWhole = known.at(-1)?.seq === session.lastSeq
  const fromSeq = Math.max(1, session.lastSeq - END.limit + 1)
  const end = isWhole ? known : await readEntries(service, session, { ...END, fromSeq })
  // a user who renames the session afterwards has run nothing
  const last = end.findLast(({ event }) => event !== undefined && event.author !== 'user')?.event
  if (last?.errorCode === undefined) return 'completed'
  return last.errorCode === 'CANCELLED' ? 'cancelled' : 'failed'
}

/** The state of a session as far as the store tells it without a log; undefined if a run has ended. */
export function stateOfStore({ state, lastSeq }: FoundSession): RunState | undefined {
  switch (state) {
    case 'running':
    case 'waiting':
      return state
    case 'posted':
      return 'running' // a worker is about to continue it
    case 'interrupted':
    case 'setAside':
      return 'failed'
    case 'idle':
      return lastSeq === 0 ? 'new' : undefined
  }
}

/** Entries of a log. */
export async function readEntries(
  service: SessionService,
  { appName, userId, sessionId }: FoundSession,
  part: { readonly fromSeq: number; readonly limit: number; readonly maxBytes: number },
): Promise<readonly Entry[]> {
  return (await service.readLog?.({ appName, userId, sessionId, ...part }))?.entries ?? []
}

/** The state of a session; empty if it was deleted meanwhile. */
async function readState(
  service: SessionService,
  { appName, userId, sessionId }: FoundSession,
): Promise<Readonly<JsonObject>> {
  const config = { numRecentEvents: 0 }
  return (await service.getSession({ appName, userId, sessionId, config }))?.state ?? {}
}

/** Where adk-web keeps the name of a session, too. */
function nameIn({ __session_metadata__: metadata }: Readonly<JsonObject>): string | undefined {
  const name = isRecord(metadata) ? metadata.displayName : undefined
  return typeof name === 'string' && name.trim() !== '' ? name : undefined
}

// The list of pending requests that is stored with an append, so that it changes in the same transaction as the log.
import type { SessionView } from '../../agent/loop/session-view.ts'
import { type NewEntry, startsWaiting } from '../../event/event.ts'
import type { Fold } from '../../event/fold.ts'
import type { PendingRequest } from '../../event/pending.ts'
import { pendingOf } from './pending.ts'

/** The list to store, and what `SessionView.listed` is once it is stored. */
export interface PendingListing {
  readonly pending: readonly PendingRequest[]
  readonly listed: ReadonlyMap<string, string>
}

interface ListedSession {
  readonly view: SessionView
  readonly invocationId: string
  readonly userId: string
  readonly sessionId: string
}

/**
 * The pending requests of the session once `entries` are recorded: each invocation is folded with them, on a copy.
 * Undefined when the stored list is right already.
 */
export function pendingAfter(session: ListedSession, entries: readonly NewEntry[]): PendingListing | undefined {
  const { view } = session
  const invocationIds = new Set([
    session.invocationId,
    ...entries.map(({ event, record }) => (event ?? record).invocationId),
  ])
  const after = new Map(Array.from(invocationIds, (id) => [id, pendingIn(session, id, entries)]))
  const before = view.listed
  if (before && [...after].every(([id, pending]) => (before.get(id) ?? '') === idsOf(pending))) return undefined
  for (const { fold } of view.open()) {
    const { invocationId } = fold
    if (!after.has(invocationId)) after.set(invocationId, pendingIn(session, invocationId, NO_ENTRIES))
  }
  view.listed = undefined // unknown until the append has succeeded
  const listed = [...after].filter(([, pending]) => pending.length > 0)
  return {
    pending: listed.flatMap(([, pending]) => pending),
    listed: new Map(listed.map(([id, pending]) => [id, idsOf(pending)])),
  }
}

const NO_ENTRIES: readonly NewEntry[] = []

function pendingIn(
  { view, userId, sessionId }: ListedSession,
  invocationId: string,
  entries: readonly NewEntry[],
): readonly PendingRequest[] {
  const own = entries.filter(({ event, record }) => (event ?? record).invocationId === invocationId)
  const fold = foldWith(view.foldOf(invocationId), own)
  return pendingOf(fold.waitingCalls(), { userId, sessionId, invocationId })
}

/** Only a fold that waits, or starts to, can have other pending requests afterwards. */
function foldWith(fold: Fold, entries: readonly NewEntry[]): Fold {
  if (entries.length === 0 || !(fold.isWaiting || entries.some(startsWaiting))) return fold
  const tentative = fold.copy()
  for (const entry of entries) tentative.add(entry)
  return tentative
}

function idsOf(pending: readonly PendingRequest[]): string {
  return pending.map(({ id }) => id).join('\n')
}

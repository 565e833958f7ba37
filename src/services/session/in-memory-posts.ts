// What is posted to the inboxes of sessions in memory, and who is told.
import { Inbox } from './in-memory-inbox.ts'
import type { InMemorySession } from './in-memory-session.ts'
import { throwIfTooManyWait } from './in-memory-waiting.ts'
import { addWatcher, notifyWatchers, type SessionWatchers } from './in-memory-watchers.ts'
import type { InboxItem, SessionKey } from './service.ts'
import type { WaitingLimits } from './waiting-limits.ts'

/** The inboxes of all sessions. */
export class InMemoryPosts {
  /** Sessions that may have inbox items, in the order of their oldest ones: workers look for them all the time. */
  readonly #posted: Set<InMemorySession> = new Set()
  readonly #watchers: SessionWatchers = new Set()

  /** Sessions that may have inbox items, in the order of their oldest ones. */
  get sessions(): Iterable<InMemorySession> {
    return this.#posted
  }

  /** Throws RATE_LIMITED if as many messages wait as may wait. An item that was posted before is no new one. */
  throwIfTooMany(
    key: SessionKey,
    limits: WaitingLimits,
    repeated: { readonly session: InMemorySession | undefined; readonly id: string },
  ): void {
    if (!repeated.session?.inbox?.hasSeen(repeated.id)) throwIfTooManyWait(this.#posted, key, limits)
  }

  /** Adds an item to the inbox of a session, and returns the last sequence number of the log. */
  add(session: InMemorySession, item: InboxItem): number {
    session.inbox ??= new Inbox()
    const { seq } = session.log
    session.inbox.post(item, seq)
    if (!session.inbox.isEmpty) this.#posted.add(session)
    notifyWatchers(this.#watchers, session.key)
    return seq
  }

  /** Removes items that are in the log. */
  drain(session: InMemorySession, ids: readonly string[]): void {
    session.inbox?.remove(ids)
    if (session.inbox?.isEmpty) this.forget(session)
  }

  /** Forgets a session that is deleted or has no items. */
  forget(session: InMemorySession): void {
    this.#posted.delete(session)
  }

  /** Tells watchers that a session may have something for them. */
  notify(key: SessionKey): void {
    if (this.#watchers.size > 0) notifyWatchers(this.#watchers, key)
  }

  /** Calls the listener when a session has changed, until the returned function is called. */
  watch(listener: (key: SessionKey) => void): () => void {
    return addWatcher(this.#watchers, listener)
  }
}

import type { JsonObject } from '../../core/base/json.ts'
import type { Content } from '../../core/content/content.ts'
import type { Entry, Event, NewEntry } from '../../core/event/event.ts'
import type { PendingRequest } from '../../core/event/pending-request.ts'
import type { PostOptions } from './waiting-limits.ts'

/** Identifies a session. */
export interface SessionKey {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The session of the user. */
  readonly sessionId: string
}

/** One conversation of one user in one app. */
export interface Session {
  /** The id of the session. */
  readonly id: string
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The state, with the `user:` and `app:` keys that the session shares. */
  readonly state: Readonly<JsonObject>
  /** The events of the log, in order. */
  readonly events: readonly Event[]
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number
}

/** The exclusive right to write a session, until another holder takes over. */
export interface Lease {
  /** The session. */
  readonly key: SessionKey
  /** The fencing number: a store refuses writes under an older epoch. */
  readonly epoch: number
  /** The last sequence number of the log when the lease was claimed. */
  readonly seq: number
  /**
   * How long the lease lives after `claim` and after each `renew`, in milliseconds. The same for all leases of a service.
   * The holder renews at a third of it. Only the store knows when the lease ends, because it measures on a monotonic clock.
   */
  readonly leaseMs: number
  /**
   * How many holders before this one have lost the session in a row: their process died, or another one took over. A release that is
   * not `interrupted` sets it back. Absent in stores that do not count: 0.
   */
  readonly crashes?: number | undefined
  /**
   * If the holder before this one has lost the session: how long ago it last claimed or renewed its lease, in milliseconds on the clock of
   * leases. Only of the lease that `claim` returns. Absent in stores that do not measure it.
   */
  readonly lastHeldMs?: number | undefined
}

/** Options of `claim`. */
export interface ClaimOptions {
  /**
   * The name of a scheduler that has one holder of a session at a time. A live lease that was claimed under the same name is taken over:
   * its holder has died, or no longer counts. Default: a live lease is SESSION_BUSY.
   */
  readonly takeOver?: string | undefined
}

/** How a session is left. */
export interface ReleaseOptions {
  /** The session counts as interrupted, so that another process can recover it. Default false. */
  readonly interrupted?: boolean | undefined
  /** Why no worker should continue the session by itself. It is in the list `setAside` until it is claimed again. */
  readonly setAside?: string | undefined
}

/** How many sessions an app has, by state. Each session counts once, in the first of these states that it is in. */
export interface SessionCounts {
  /** A live lease: a process runs it. */
  readonly running: number
  /** Its holder has died, or has left work behind. A worker continues it. */
  readonly interrupted: number
  /** Set aside: workers leave it alone. */
  readonly setAside: number
  /** Its inbox has items, such as a submitted message or an answer. A worker continues it. */
  readonly posted: number
  /** It has pending requests. */
  readonly waiting: number
  /** Nothing is left to do. */
  readonly idle: number
}

/** Which sessions of an app to find. */
export interface SessionFilter {
  /** The app. */
  readonly appName: string
  /** The user. Default: all users. */
  readonly userId?: string | undefined
  /** Sessions that have changed at this time or later, in milliseconds since the epoch. Default: all. */
  readonly updatedSince?: number | undefined
}

/** A session that was found, without its state and its log. */
export interface FoundSession extends SessionKey {
  /** When it last changed, in milliseconds since the epoch. */
  readonly updatedAt: number
  /** The number of the last entry of its log; 0 if it is empty. */
  readonly lastSeq: number
  /** The first of these states that it is in. */
  readonly state: keyof SessionCounts
}

/** A session that workers leave alone, because processes died while they continued it. */
export interface SetAsideSession extends SessionKey {
  /** Why. */
  readonly reason: string
}

/** An item for the holder of a session, posted by another process. */
export type InboxItem = {
  /** The id of the item. A store ignores an item whose id it has seen. */
  readonly id: string
  /** When the item was posted, in milliseconds since the epoch on the clock of the process that posts it. Absent in items of older versions. */
  readonly postedAt?: number
} & (
  | { readonly type: 'answer'; readonly content: Content; readonly stateDelta?: JsonObject }
  | {
      readonly type: 'result'
      readonly callId: string
      readonly response: JsonObject
      readonly stateDelta?: JsonObject
    }
  /** What a background body that runs elsewhere reports. The holder shows it to its consumers. */
  | { readonly type: 'progress'; readonly callId: string; readonly response: JsonObject }
  /** A worker is about to run the body of a background call. The holder records it, unless `after` is no longer the latest attempt. */
  | {
      readonly type: 'attempt'
      readonly callId: string
      readonly after?: string
      readonly crashes: number
      readonly until: number
    }
  | { readonly type: 'cancel'; readonly invocationId?: string }
  | { readonly type: 'state'; readonly stateDelta: JsonObject }
  /** New text of the user. It stays until no invocation is under way or waits for the user, then a worker runs it. */
  | {
      readonly type: 'message'
      readonly invocationId: string
      readonly content: Content
      readonly stateDelta?: JsonObject
    }
)

/** An inbox item as the holder drains it. */
export type PostedItem = InboxItem & {
  /** The last sequence number of the log when the item was posted. An answer only counts for requests up to it. */
  readonly seq: number
}

/** Reads a session's state: all appends of the holder, and the `app:` and `user:` values that other sessions write. */
export interface StateReader {
  /** The stored value itself, not a copy; callers must not change it. Undefined if there is none. */
  get(key: string): unknown
  /** All keys. */
  keys(): Iterable<string>
}

/** The folded state of a log up to an entry. The runner makes it; a store keeps it with the log and reads nothing in it. */
export interface Checkpoint {
  /** The sequence number of the latest entry in it. */
  readonly seq: number
  /** What the runner computed from the log. It is JSON. */
  readonly state: JsonObject
  /**
   * Reads the entries up to `seq`, in order: all, or those after `fromSeq`. The runner calls it for what the state does not hold:
   * the history that a model sees, the events that an answer replays.
   */
  entriesBefore(options?: { fromSeq?: number | undefined }): Promise<readonly Entry[]>
}

/** The log of a session, as the holder of its lease reads it. */
export interface HeldLog {
  /** All entries, in order; with a `checkpoint`, those after it. */
  readonly entries: readonly Entry[]
  /** The state of the log before `entries`. Omit it if `entries` are the whole log. */
  readonly checkpoint?: Checkpoint | undefined
  /** Reads the session's state. */
  readonly state: StateReader
  /**
   * An empty object that the store keeps beside its copy of the log in memory and returns with each read of that copy.
   * The runner stores its computed state in this object. Omit it if the store keeps no copy.
   */
  readonly memo?: object
}

/** Changes that belong to an append, in the same transaction. */
export interface AppendOptions {
  /** Ids of inbox items to remove. */
  readonly drained?: readonly string[] | undefined
  /** Changes of the session's pending requests. */
  readonly pending?: PendingChanges | undefined
  /** This append completes a copy of `createCopy`: from its commit on, the copy is a session like any other. */
  readonly completesCopy?: boolean | undefined
  /**
   * The folded state of the log up to `expectedSeq`, without the entries of this append. It replaces an earlier one. Only stores
   * with `keepsCheckpoints` get it.
   */
  readonly checkpoint?: JsonObject | undefined
}

/** Changes of the pending requests of a session. */
export interface PendingChanges {
  /** Requests that are pending from now on. One with the id of a pending request replaces it and keeps its place. */
  readonly opened: readonly PendingRequest[]
  /** Ids of requests that are no longer pending, or `all`: every request that is not in `opened`. Unknown ids are ignored. */
  readonly closed: readonly string[] | 'all'
}

/** A part of a log, read without a lease. */
export interface LogPage {
  /** The entries, in order. */
  readonly entries: readonly Entry[]
  /** The last sequence number of the whole log. */
  readonly lastSeq: number
}

/** Which part of a list to read. */
export interface PageOptions {
  /** The most items. */
  readonly limit: number
  /** Where the page starts: `next` of the page before. Default: with the first item. */
  readonly after?: string | undefined
  /** Ends the page early, with the item that reaches this many bytes of JSON. Default: only `limit` ends it. */
  readonly maxBytes?: number | undefined
}

/** A part of a list. Items that are added or deleted meanwhile neither repeat nor hide others. */
export interface Page<T> {
  /** The items, in order. */
  readonly items: readonly T[]
  /** Where the next page starts; undefined if there is none. */
  readonly next?: string
}

/** How much state there is. */
export interface StateSize {
  /** The number of keys. */
  readonly keys: number
  /** The characters of their names and values as JSON, without the quotes of the names. A character above U+FFFF counts once. */
  readonly bytes: number
}

/** What a user has stored. */
export interface UserUsage {
  /** The number of sessions. */
  readonly sessions: number
  /** The `user:` state. */
  readonly userState: StateSize
  /** The own state of the session that was asked for. */
  readonly sessionState: StateSize
}

/** Which sessions a retention rule selects: those that match one of its limits. */
export interface PruneFilter {
  /** The app. */
  readonly appName: string
  /** Sessions that have not changed since this time, in milliseconds since the epoch. */
  readonly unchangedSince?: number | undefined
  /** Sessions of a user beyond this number. The latest changed ones are not among them. */
  readonly maxSessionsPerUser?: number | undefined
  /** Are sessions with pending requests among them? */
  readonly withPending: boolean
}

/** A session that a retention rule selects. */
export interface PrunableSession extends SessionKey {
  /** When it last changed, in milliseconds since the epoch. */
  readonly updatedAt: number
}

/** When a session may be claimed to delete it. */
export interface IdleConditions {
  /** It has not changed since this time, in milliseconds since the epoch. */
  readonly unchangedSince: number
  /** May it have pending requests? */
  readonly withPending: boolean
}

/** Which pending requests there are, without their content. */
export interface PendingSummary {
  /** The number of requests, with those that have expired and are not yet denied. */
  readonly count: number
  /** A number that grows with each new request. */
  readonly newest: number
}

/** Stores pins: hashes of definitions that an app trusts, such as those of tools of an MCP server. */
export interface PinService {
  /** The pin of an app under this name. Undefined if there is none. */
  get(app: { appName: string }, name: string): Promise<string | undefined>
  /** Stores a pin. With `expected`, only if the stored pin is that one; `null` expects none. Returns whether the pin is stored. */
  set(
    app: { appName: string },
    name: string,
    hash: string,
    options?: { expected?: string | null | undefined },
  ): Promise<boolean>
}

/**
 * Stores sessions with their logs. Every method is scoped by app and user. Errors are `ToolwrightError`s with the codes
 * INVALID_REQUEST, ALREADY_EXISTS, NOT_FOUND, SESSION_BUSY, LEASE_LOST, SESSION_GONE, STALE_APPEND and STORAGE. A lease that is no longer
 * held is LEASE_LOST, and SESSION_GONE if its session was deleted.
 */
export interface SessionService {
  /**
   * Whether the store keeps the `checkpoint` of an append and returns it with `read()`. Optional: without it, the runner makes none,
   * and reads the whole log.
   */
  readonly keepsCheckpoints?: boolean | undefined
  /** Creates a session, with a random id by default. `events` imports finished history: a store passes it through `importedEvents`. */
  createSession(options: {
    appName: string
    userId: string
    sessionId?: string | undefined
    state?: JsonObject | undefined
    events?: readonly Event[] | undefined
  }): Promise<Session>
  /** A copy of a session; undefined if there is none. `config` selects the latest events. */
  getSession(
    options: SessionKey & {
      config?: { numRecentEvents?: number | undefined; afterTimestamp?: number | undefined } | undefined
    },
  ): Promise<Session | undefined>
  /** The sessions of a user, with state and without events. */
  listSessions(options: { appName: string; userId: string }): Promise<Session[]>
  /**
   * A part of the sessions of a user, with state and without events: in the order of creation, or the newest first. Optional:
   * without it, servers read the whole list.
   */
  listSessionPage?(
    options: { appName: string; userId: string; newestFirst?: boolean | undefined } & PageOptions,
  ): Promise<Page<Session>>
  /**
   * A part of the sessions of an app, those that were created last first, without reading their logs. Optional: without it, the workbench
   * lists the sessions of one user at a time, and does not say which of them are running.
   */
  findSessions?(filter: SessionFilter & PageOptions): Promise<Page<FoundSession>>
  /**
   * How much a user has stored, without reading it. State under the keys of `without` is not counted. Optional: without it,
   * servers read all sessions of the user to enforce their limits.
   */
  usage?(options: {
    appName: string
    userId: string
    sessionId?: string | undefined
    without?: readonly string[] | undefined
  }): Promise<UserUsage>
  /** Deletes a session with its log. Does nothing if there is none. */
  deleteSession(key: SessionKey): Promise<void>
  /**
   * Deletes a user: all sessions, unfinished copies included, and the `user:` state. An interrupted deletion is completed by another
   * call. Optional: without it, `runner.deleteUser()` is refused.
   */
  deleteUser?(user: { appName: string; userId: string }): Promise<void>
  /** The `user:` state of a user. Optional: without it, an export has what the sessions of the user show of it. */
  userState?(user: { appName: string; userId: string }): Promise<JsonObject>
  /**
   * A part of the sessions that retention may delete. Those that are in use are left out: with a lease, alive or not, set aside, or with
   * items in the inbox. Optional: without it and `claimIdle`, `runner.prune()` is refused.
   */
  findPrunable?(filter: PruneFilter & PageOptions): Promise<Page<PrunableSession>>
  /**
   * Claims a session to delete it, in one transaction with the check that it is not in use, as for `findPrunable`, and that the
   * conditions hold. Undefined if they do not, or there is no session.
   */
  claimIdle?(key: SessionKey, conditions: IdleConditions): Promise<Lease | undefined>
  /** Claims the lease of a session. SESSION_BUSY while another lease lives, unless the options say otherwise. */
  claim(key: SessionKey, options?: ClaimOptions): Promise<Lease>
  /** Extends a lease by `leaseMs` from now. LEASE_LOST if another holder has claimed the session, or if it was released, also as interrupted. */
  renew(lease: Lease): Promise<Lease>
  /**
   * Releases a lease. With `interrupted`, the session counts as interrupted, so that another process can recover it. With `setAside`, it
   * does not, until it is claimed again. Deletes an unfinished copy.
   */
  release(lease: Lease, options?: ReleaseOptions): Promise<void>
  /** Reads the whole log, or a checkpoint and the entries after it. */
  read(lease: Lease): Promise<HeldLog>
  /**
   * Reads a part of the log without a lease, also while a run writes to it: at most `limit` entries, and none after the one that
   * reaches `maxBytes` of JSON. Undefined if there is no session. Optional: without it, developer tools show no log.
   */
  readLog?(
    options: SessionKey & {
      fromSeq?: number | undefined
      limit?: number | undefined
      maxBytes?: number | undefined
    },
  ): Promise<LogPage | undefined>
  /**
   * The latest checkpoint of a log, without a lease. Undefined if there is none. Optional: without it, a process that does not hold a
   * session reads its whole log, to check an answer or to follow the run of another process.
   */
  readCheckpoint?(key: SessionKey): Promise<Omit<Checkpoint, 'entriesBefore'> | undefined>
  /**
   * Appends entries after `expectedSeq`, all or none, and applies their state deltas. Returns the new last sequence
   * number. An event whose id is in the log is not appended again.
   */
  append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): Promise<number>
  /** Posts an item to the inbox, without a lease. Returns the last sequence number, which is stored with the item. A store with `withInbox` follows the options. */
  post(key: SessionKey, item: InboxItem, options?: PostOptions): Promise<number>
  /** The items in the inbox. An item stays there until an append names it in `drained`. */
  inbox(lease: Lease): Promise<PostedItem[]>
  /** Pending requests, in the order of their first append. */
  pending(filter: {
    appName: string
    userId?: string | undefined
    sessionId?: string | undefined
  }): Promise<PendingRequest[]>
  /** A part of the pending requests, in the same order. Optional: without it, servers read the whole list. */
  pendingPage?(
    filter: { appName: string; userId?: string | undefined; sessionId?: string | undefined } & PageOptions,
  ): Promise<Page<PendingRequest>>
  /** Counts pending requests without reading them. Optional: without it, servers have no figure of them. */
  pendingSummary?(filter: {
    appName: string
    userId?: string | undefined
    sessionId?: string | undefined
  }): Promise<PendingSummary>
  /**
   * Sessions with a pending request whose `expiresAt` is not after `now`, in milliseconds since the epoch; at most `limit`. Optional: without
   * it, workers read the whole list of pending requests now and then.
   */
  overdue?(filter: { appName: string; now: number; limit: number }): Promise<SessionKey[]>
  /** Sessions whose holder died or released them as interrupted: their latest lease has ended without a normal release. */
  interrupted(filter: { appName: string }): Promise<SessionKey[]>
  /**
   * A part of the sessions that were released with `setAside` and not claimed since. Optional: without it, the store ignores `setAside`
   * and `takeOver` and counts no `crashes`, and workers continue a session that kills its processes again and again.
   */
  setAside?(filter: { appName: string; userId?: string | undefined } & PageOptions): Promise<Page<SetAsideSession>>
  /** Counts the sessions of an app by state, without reading them. Optional: without it, `toolwright fleet` shows no states. */
  countSessions?(filter: { appName: string }): Promise<SessionCounts>
  /**
   * Sessions whose inbox has items that no run has drained, that no live lease holds, and that are not set aside: those with the oldest
   * items first, at most `limit`. Optional: without it, a worker finds posted answers only when the session is continued for another reason.
   */
  withInbox?(filter: { appName: string; limit: number }): Promise<SessionKey[]>
  /**
   * Calls the listener when a process that waits may have to act on a session: an item was posted to its inbox, or its lease was
   * released. Also for changes of other processes, within a second, and sometimes without a change. The returned function
   * ends it. Optional: without it, runs and workers poll.
   */
  watch?(listener: (key: SessionKey) => void): () => void
  /**
   * Starts a copy of another session: creates a session and claims it, in one commit. Only the holder of the lease can see the
   * unfinished copy; for all other methods it does not exist, except that its key is taken (ALREADY_EXISTS). It becomes a
   * session with the append that has `completesCopy`. Optional: without it, `runner.fork()` is refused.
   */
  createCopy?(options: SessionKey & { state?: JsonObject | undefined }): Promise<Lease>
  /**
   * Claims the unfinished copies whose lease has ended, to remove them: their former holders can no longer complete them.
   * `release` deletes them.
   */
  claimUnfinishedCopies?(filter: { appName: string }): Promise<Lease[]>
  /** The hashes of definitions that apps trust. */
  readonly pins: PinService
}

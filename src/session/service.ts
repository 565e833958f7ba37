import type { JsonObject } from '../base/json.ts'
import type { Content } from '../content/content.ts'
import type { Entry, Event, NewEntry } from '../event/event.ts'
import type { PendingRequest } from '../event/pending.ts'

/** Where a session lives. */
export interface SessionKey {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
}

export interface Session {
  readonly id: string
  readonly appName: string
  readonly userId: string
  /** `app:` and `user:` keys included, under their prefixes. */
  readonly state: Readonly<JsonObject>
  readonly events: readonly Event[]
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number
}

/** The right to write to a session, until another holder takes over. */
export interface Lease {
  readonly key: SessionKey
  readonly epoch: number
  /** The last sequence number when the lease was taken. */
  readonly seq: number
  /**
   * How long the lease lives after `claim` and after each `renew`; the same for all leases of a service. The holder
   * renews at a third of it. When it ends is known to the store only: it measures on a monotonic clock.
   */
  readonly leaseMs: number
}

/** Something for the holder of a session from somebody who is not. */
export type InboxItem = { readonly id: string } & (
  | { readonly type: 'answer'; readonly content: Content; readonly stateDelta?: JsonObject }
  | { readonly type: 'result'; readonly callId: string; readonly response: JsonObject }
  | { readonly type: 'cancel'; readonly invocationId?: string }
  | { readonly type: 'state'; readonly stateDelta: JsonObject }
)

/** An inbox item as the holder drains it. */
export type PostedItem = InboxItem & {
  /** The session's last sequence number when the item was posted: an answer counts only for requests up to here. */
  readonly seq: number
}

/** What a holder may read of a session's state: always what it has appended, and others' `app:` and `user:` writes. */
export interface StateReader {
  /** The stored value itself, not a copy: for reading only. `undefined` when absent. */
  get(key: string): unknown
  keys(): Iterable<string>
}

/** The log of a session, as the holder of its lease reads it. */
export interface HeldLog {
  /** All entries, in order. */
  readonly entries: readonly Entry[]
  /** Reads the session's state. */
  readonly state: StateReader
  /**
   * An empty object that the store keeps beside its copy of the log in memory and returns with each read of that copy.
   * The runner attaches what it computed from the log to it. Omit it if the store keeps no copy.
   */
  readonly memo?: object
}

/** What goes with an append, in the same transaction. */
export interface AppendOptions {
  /** Ids of inbox items that are done with. */
  readonly drained?: readonly string[] | undefined
  /** All that the session waits for now; takes the place of what was recorded before. */
  readonly pending?: readonly PendingRequest[] | undefined
}

/**
 * Sessions with their logs. Every method is scoped by app and user. Errors are `ToolwrightError`s: INVALID_REQUEST,
 * ALREADY_EXISTS, NOT_FOUND, SESSION_BUSY, LEASE_LOST, STALE_APPEND, STORAGE.
 */
export interface SessionService {
  createSession(options: {
    appName: string
    userId: string
    sessionId?: string | undefined
    state?: JsonObject | undefined
    events?: readonly Event[] | undefined
  }): Promise<Session>
  /** A copy; `config` keeps only the latest events. */
  getSession(
    options: SessionKey & {
      config?: { numRecentEvents?: number | undefined; afterTimestamp?: number | undefined } | undefined
    },
  ): Promise<Session | undefined>
  /** With state, without events. */
  listSessions(options: { appName: string; userId: string }): Promise<Session[]>
  deleteSession(key: SessionKey): Promise<void>
  /** SESSION_BUSY while another lease lives; NOT_FOUND without a session. */
  claim(key: SessionKey): Promise<Lease>
  renew(lease: Lease): Promise<Lease>
  /** Gives it back; `interrupted` = what is unfinished is for others to go on with. */
  release(lease: Lease, options?: { interrupted?: boolean | undefined }): Promise<void>
  /** Reads the whole log. */
  read(lease: Lease): Promise<HeldLog>
  /**
   * Adds entries after `expectedSeq`, all or none, and applies their state deltas. Gives the new last sequence number.
   * An event id that is already there is not added again.
   */
  append(lease: Lease, expectedSeq: number, entries: readonly NewEntry[], options?: AppendOptions): Promise<number>
  /** Leaves an item for the holder; needs no lease. Gives the last sequence number at that moment, which is kept with it. */
  post(key: SessionKey, item: InboxItem): Promise<number>
  /** What was posted; an item is gone only with the append that names it in `drained`. */
  drain(lease: Lease): Promise<PostedItem[]>
  /** Pending requests, in the order in which appends first recorded them. */
  pending(filter: {
    appName: string
    userId?: string | undefined
    sessionId?: string | undefined
  }): Promise<PendingRequest[]>
  /** Sessions whose holder died, or said so when it left: their latest lease was not given back and lives no more. */
  interrupted(filter: { appName: string }): Promise<SessionKey[]>
}

/** Identifies a limit. */
export interface LimitKey {
  /** The app. */
  readonly appName: string
  /** The limit in its app. */
  readonly name: string
}

/** A place in the line of those who wait for a slot. */
export interface PlaceInLine {
  /** Identifies who waits, among those of the user. */
  readonly ticket: string
  /** The place is lost this long after the last request with the ticket, in milliseconds. */
  readonly waitMs: number
}

/** What asks for a slot of a limit. */
export interface SlotRequest extends LimitKey {
  /** How many slots the limit has. */
  readonly max: number
  /** Identifies the slot among all that were ever asked for. A slot that is asked for again is not another one. */
  readonly slotId: string
  /** The process that renews the slot; empty if nothing renews it. */
  readonly holder: string
  /** The user that the slot is for. */
  readonly userId: string
  /** How long the slot is taken without a renewal, in milliseconds. */
  readonly leaseMs: number
  /** The place in line while no slot is free. Absent: does not wait, and still lets those who wait go first. */
  readonly place?: PlaceInLine | undefined
}

/** What a limit answers. */
export type SlotAnswer =
  | { readonly type: 'taken' }
  /** No slot is free, or others are first. `retryAfterMs`: when the next lease ends, if nothing renews it. */
  | { readonly type: 'full'; readonly retryAfterMs: number }

/** A slot that is free for one who waits. */
export interface FreedSlot {
  /** The app. */
  readonly appName: string
  /** The ticket of who waits. */
  readonly ticket: string
}

/**
 * Stores limits that all processes with the same store share. A limit has slots. A slot is taken until it is released or its lease ends,
 * as when its process has died. A slot that is neither renewed nor released counts starts: at most `max` slots of 1,000 ms are `max`
 * starts in any second. Those who wait are served in this order: users with the fewest slots first, then who has waited longest. So no
 * user waits for all the work of another one. Errors are `ToolwrightError`s with the codes INVALID_REQUEST and STORAGE.
 */
export interface LimitService {
  /** Takes a slot, or a place in line. */
  take(request: SlotRequest): Promise<SlotAnswer>
  /** Starts the leases of all slots of a holder again. */
  renew(holder: { readonly holder: string; readonly leaseMs: number }): Promise<void>
  /** Gives a slot back. Does nothing if it is not taken. */
  release(slot: LimitKey & { readonly slotId: string }): Promise<void>
  /** Gives up a place in line. Does nothing if there is none. */
  leave(place: LimitKey & { readonly userId: string; readonly ticket: string }): Promise<void>
  /** Deletes slots and places of a user. Work under way goes on. */
  deleteUser(user: { readonly appName: string; readonly userId: string }): Promise<void>
  /**
   * Calls the listener when one who waits can take a slot; without an argument, when anyone may. The returned function ends it. Optional:
   * without it, those who wait ask each second.
   */
  watch?(listener: (freed?: FreedSlot) => void): () => void
}

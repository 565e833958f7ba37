import { anything, callback, type OptionRules } from '../../core/error/check-options.ts'

/** Options of an in-memory session service. */
export interface InMemorySessionOptions {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined
  /** How long a lease lives without a renewal, in milliseconds. Default: 15,000; at least 1,000. */
  leaseMs?: number | undefined
  /** Milliseconds on a clock that is never set, for leases. Default: `performance.now`, or `now` when that is given. */
  monotonicNow?: (() => number) | undefined
  /** Creates the ids of sessions and events. Default: random ids. */
  newId?: (() => string) | undefined
}

/** What the values of the options are, as far as `checkOptions` checks it. */
export const sessionOptionRules: OptionRules<InMemorySessionOptions> = {
  now: callback,
  monotonicNow: callback,
  leaseMs: anything, // `checkLeaseMs` checks it
  newId: callback,
}

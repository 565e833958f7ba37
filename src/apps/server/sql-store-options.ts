import { anything, callback, type OptionRules, objectWith } from '../../core/error/check-options.ts'
import type { Logger } from '../../engine/dispatch/host.ts'

/** Options of all stores in a SQL database. */
export interface SqlStoreOptions {
  /**
   * How long a lease lives without a renewal, in milliseconds. Default: 15000, at least 1000. The runner renews at a third
   * of it.
   */
  readonly leaseMs?: number | undefined
  /** Maximum total size of cached logs, as JSON text. Default: 64000000. */
  readonly cacheBytes?: number | undefined
  /** Current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
  /** Receives reports of damaged rows that are skipped. Default: `console`. */
  readonly logger?: Logger | undefined
  /** Creates ids of sessions and events. Default: random UUIDs. */
  readonly newId?: (() => string) | undefined
}

/** What the values of these options are, as far as `checkOptions` checks it. */
export const sqlStoreRules: OptionRules<SqlStoreOptions> = {
  leaseMs: anything,
  cacheBytes: anything,
  now: callback,
  newId: callback,
  logger: objectWith('warn', 'error'),
}

import type { ArtifactService } from '../artifact/service.ts'
import { systemPorts } from '../base/ports.ts'
import type { Logger } from '../dispatch/host.ts'
import { anything, callback, checkOptions, type OptionRules, objectWith } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS } from '../session/lease.ts'
import type { SessionService } from '../session/service.ts'
import { SqliteArtifactService } from './artifact-service.ts'
import { openDatabase } from './open.ts'
import { SqliteSessionService } from './session-service.ts'

export interface SqliteOptions {
  /**
   * `normal` (the default): a commit survives the end of the process, `kill -9` included; a power failure may take the
   * last ones back, whole, newest first. `full`: a commit survives a power failure too, and takes a write to the disk.
   */
  readonly synchronous?: 'normal' | 'full' | undefined
  /**
   * How long a write waits for another process that writes. Default 5 s. The holder of a session waits longer, until its
   * lease ends. The process does other work meanwhile; only opening the file waits for up to 2 s without doing so.
   */
  readonly busyTimeoutMs?: number | undefined
  /** How long a lease lives without a renewal. Default 15 s, at least 1 s. The runner renews at a third of it. */
  readonly leaseMs?: number | undefined
  /** Logs up to this size together, as text, are kept in memory for their next turn. Default 64 MB. */
  readonly cacheBytes?: number | undefined
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined
  /**
   * Milliseconds on a clock that is never set and is the same for all processes on the machine, for leases. Default:
   * `process.hrtime`, or `now` when that is given.
   */
  readonly monotonicNow?: (() => number) | undefined
  /** Is told of damaged rows that are passed over. Default: `console`. */
  readonly logger?: Logger | undefined
  readonly newId?: (() => string) | undefined
}

const RULES: OptionRules<SqliteOptions> = {
  synchronous: anything,
  busyTimeoutMs: anything,
  leaseMs: anything,
  cacheBytes: anything,
  now: callback,
  monotonicNow: callback,
  newId: callback,
  logger: objectWith('warn', 'error'),
}

/** The services of one file. What ends them stays behind when they are spread into a runner's options. */
export class SqliteServices {
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService
  readonly #close: () => void

  constructor(of: { sessionService: SessionService; artifactService: ArtifactService; close: () => void }) {
    this.sessionService = of.sessionService
    this.artifactService = of.artifactService
    this.#close = of.close
  }

  /** Closes the file. Without it the end of the process does, and nothing is lost. */
  close(): void {
    this.#close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/**
 * Sessions, their state and artifacts in one file, which several processes may use at once. The file is made when it is
 * not there, readable by its owner only. `:memory:` is a file that is gone with the process.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, ...sqlite('shop.db') })
 */
export function sqlite(path: string | URL, options: SqliteOptions = {}): SqliteServices {
  checkOptions('sqlite()', options, RULES)
  const { synchronous = 'normal', busyTimeoutMs = 5_000, leaseMs = DEFAULT_LEASE_MS, cacheBytes = 64_000_000 } = options
  if (synchronous !== 'normal' && synchronous !== 'full') {
    throw new ToolwrightError('INVALID_CONFIG', "synchronous must be 'normal' or 'full'.")
  }
  checkNumber('busyTimeoutMs', busyTimeoutMs, 0)
  checkLeaseMs(leaseMs)
  checkNumber('cacheBytes', cacheBytes, 0)
  const { now = systemPorts.now, newId = systemPorts.newId, logger = console } = options
  const monotonicNow = options.monotonicNow ?? options.now ?? millisecondsSinceBoot
  const database = openDatabase(path, { synchronous, busyTimeoutMs })
  try {
    return new SqliteServices({
      sessionService: new SqliteSessionService(database, { now, monotonicNow, newId, leaseMs, cacheBytes, logger }),
      artifactService: new SqliteArtifactService(database, { now }),
      close: () => database.close(),
    })
  } catch (error) {
    database.close()
    throw error
  }
}

/** CLOCK_MONOTONIC and its like: one clock for all processes of the machine until it restarts. */
function millisecondsSinceBoot(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

function checkNumber(name: string, value: number, least: number): void {
  if (Number.isFinite(value) && value >= least) return
  throw new ToolwrightError('INVALID_CONFIG', `${name} must be a number from ${least} on.`)
}

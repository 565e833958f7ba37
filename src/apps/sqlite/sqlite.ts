import { systemPorts } from '../../core/base/ports.ts'
import { anything, callback, checkOptions, type OptionRules } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import { EncryptedCredentialService } from '../../services/credential/encrypted.ts'
import type { LimitService } from '../../services/limit/service.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS } from '../../services/session/lease.ts'
import type { SessionService } from '../../services/session/service.ts'
import { SqlArtifactService } from '../../services/sql/artifact-service.ts'
import { SqlCredentialStore } from '../../services/sql/credential-store.ts'
import { SqlLimitService } from '../../services/sql/limit-service.ts'
import { fts5 } from '../../services/sql/memory-index.ts'
import { SqlMemoryService } from '../../services/sql/memory-service.ts'
import { SqlScheduleService } from '../../services/sql/schedule-service.ts'
import { SqlSessionService } from '../../services/sql/session-service.ts'
import type { WorkerService } from '../../services/worker/service.ts'
import { type SqlStoreOptions, sqlStoreRules } from '../server/sql-store-options.ts'
import { sqlWorkerService } from '../server/sql-worker-service.ts'
import { checkConfiguredKeys, encryptionOf } from './encryption-keys.ts'
import { openDatabase } from './open-database.ts'

/** Options of `sqlite()`. */
export interface SqliteOptions extends SqlStoreOptions {
  /**
   * `normal` (default): a commit survives a crash of the process, `kill -9` included; a power failure may undo the latest
   * commits. `full`: a commit also survives a power failure, at the cost of one disk sync per commit.
   */
  readonly synchronous?: 'normal' | 'full' | undefined
  /**
   * How long a write waits for another process that holds the write lock, in milliseconds. Default: 5000. The holder of a
   * session waits until its lease ends. Waiting does not block the process, except for up to 2 s while opening the file.
   */
  readonly busyTimeoutMs?: number | undefined
  /**
   * Keys that encrypt credentials, each base64 of 32 random bytes. The first one encrypts, all decrypt. Default: the
   * environment variable `TOOLWRIGHT_ENCRYPTION_KEYS`, separated by commas; else the file `<path>.key`, which is created
   * with a random key, readable by its owner only, before the first credential is saved.
   */
  readonly encryptionKeys?: readonly string[] | undefined
  /**
   * Milliseconds on a clock that never jumps and is shared by all processes of the machine. Leases use it. Default:
   * `process.hrtime`, or `now` when `now` is set.
   */
  readonly monotonicNow?: (() => number) | undefined
}

const RULES: OptionRules<SqliteOptions> = {
  ...sqlStoreRules,
  synchronous: anything,
  busyTimeoutMs: anything,
  encryptionKeys: anything,
  monotonicNow: callback,
}

/** The services of one SQLite file. Spread them into the options of a runner; `close` is not copied. */
export class SqliteServices {
  /** Stores sessions. */
  readonly sessionService: SessionService
  /** Stores artifacts. */
  readonly artifactService: ArtifactService
  /** Stores credentials, encrypted. */
  readonly credentialService: EncryptedCredentialService
  /** Stores what is remembered of sessions, and searches it. */
  readonly memoryService: MemoryService
  /** Stores schedules. */
  readonly scheduleService: ScheduleService
  /** Stores limits of the whole fleet. */
  readonly limitService: LimitService
  /** Stores which workers there are. */
  readonly workerService: WorkerService
  readonly #close: () => void

  constructor(of: {
    sessionService: SessionService
    artifactService: ArtifactService
    credentialService: EncryptedCredentialService
    memoryService: MemoryService
    scheduleService: ScheduleService
    limitService: LimitService
    workerService: WorkerService
    close: () => void
  }) {
    this.sessionService = of.sessionService
    this.artifactService = of.artifactService
    this.credentialService = of.credentialService
    this.memoryService = of.memoryService
    this.scheduleService = of.scheduleService
    this.limitService = of.limitService
    this.workerService = of.workerService
    this.#close = of.close
  }

  /** Closes the file. Optional: the end of the process also closes it without losing data. */
  close(): void {
    this.#close()
  }

  /** Closes the file at the end of a `using` scope. */
  [Symbol.dispose](): void {
    this.close()
  }
}

/**
 * Stores sessions, state, artifacts, memory, schedules, limits and encrypted credentials in one SQLite file, which several processes can use
 * at once.
 * A missing file is created, readable by its owner only. `:memory:` stores everything in the memory of the process.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, ...sqlite('shop.db') })
 */
export function sqlite(path: string | URL, options: SqliteOptions = {}): SqliteServices {
  checkOptions('sqlite()', options, RULES)
  const { synchronous = 'normal', busyTimeoutMs = 5_000, leaseMs = DEFAULT_LEASE_MS, cacheBytes = 64_000_000 } = options
  if (synchronous !== 'normal' && synchronous !== 'full') {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `sqlite(): synchronous must be 'normal' or 'full', got ${JSON.stringify(synchronous)}.`,
    )
  }
  checkNumber('busyTimeoutMs', busyTimeoutMs, 0)
  checkLeaseMs(leaseMs)
  checkNumber('cacheBytes', cacheBytes, 0)
  checkConfiguredKeys(path, options.encryptionKeys)
  const { now = systemPorts.now, newId = systemPorts.newId, logger = console } = options
  const monotonicNow = options.monotonicNow ?? options.now
  const database = openDatabase(path, { synchronous, busyTimeoutMs, monotonicNow })
  try {
    const credentials = new SqlCredentialStore(database)
    const encryption = encryptionOf(database.file, options.encryptionKeys, () => credentials.hasCredentials())
    const sessionService = new SqlSessionService(database, { now, newId, leaseMs, cacheBytes, logger })
    return new SqliteServices({
      sessionService: Object.assign(sessionService, { file: database.file }), // `toolwright doctor` checks it
      artifactService: new SqlArtifactService(database, { now }),
      credentialService: new EncryptedCredentialService(credentials, encryption),
      memoryService: new SqlMemoryService(database, { index: fts5, logger }),
      scheduleService: new SqlScheduleService(database, { logger }),
      limitService: new SqlLimitService(database),
      workerService: sqlWorkerService(database, logger),
      close: () => database.close(),
    })
  } catch (error) {
    database.close()
    throw error
  }
}

function checkNumber(name: string, value: number, least: number): void {
  if (Number.isFinite(value) && value >= least) return
  throw new ToolwrightError('INVALID_CONFIG', `sqlite(): ${name} must be a number >= ${least}, got ${String(value)}.`)
}

import { kindOf } from '../../core/base/kind-of.ts'
import { systemPorts } from '../../core/base/ports.ts'
import { anything, callback, checkOptions, name, type OptionRules, objectWith } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import { EncryptedCredentialService } from '../../services/credential/encrypted.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS } from '../../services/session/lease.ts'
import type { SessionService } from '../../services/session/service.ts'
import { SqlArtifactService } from '../../services/sql/artifact-service.ts'
import { SqlCredentialStore } from '../../services/sql/credential-store.ts'
import { tsvector } from '../../services/sql/memory-index.ts'
import { SqlMemoryService } from '../../services/sql/memory-service.ts'
import { SqlScheduleService } from '../../services/sql/schedule-service.ts'
import { SqlSessionService } from '../../services/sql/session-service.ts'
import { PostgresDatabase } from './database.ts'
import { encryptionOf } from './encryption-keys.ts'
import { listenClientOf } from './listen-client.ts'
import type { OpenListener } from './listening.ts'
import { Connections, type PostgresConnection, type PostgresPool } from './pool.ts'
import { placeOf, readSource } from './source.ts'

/** Options of `postgres()`. */
export interface PostgresOptions {
  /** The schema of the tables. It is created if it does not exist. Default: `toolwright`. */
  readonly schema?: string | undefined
  /**
   * How long a lease lives without a renewal, in milliseconds. Default: 15000, at least 1000. The runner renews at a third
   * of it.
   */
  readonly leaseMs?: number | undefined
  /**
   * How long a statement may take, and how long an open transaction may wait for its process, in milliseconds. Default: 10000, at
   * least 100.
   */
  readonly statementTimeoutMs?: number | undefined
  /**
   * The URL of a connection that listens for messages of other processes, so that an answer reaches a waiting process at once. Default:
   * the address of the database. Set it if that leads to a pooler in transaction mode, which passes on no messages: without them,
   * and with `false`, processes look for changes each second.
   */
  readonly listen?: string | false | undefined
  /** Maximum total size of cached logs, as JSON text. Default: 64000000. */
  readonly cacheBytes?: number | undefined
  /**
   * Keys that encrypt credentials, each base64 of 32 random bytes. The first one encrypts, all decrypt. Default: the
   * environment variable `TOOLWRIGHT_ENCRYPTION_KEYS`, separated by commas. Without a key, credentials are refused.
   */
  readonly encryptionKeys?: readonly string[] | undefined
  /** Current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
  /**
   * Milliseconds on the clock of leases, the same in all processes. Default: the clock of the server, or `now` when `now` is set. For
   * tests.
   */
  readonly monotonicNow?: (() => number) | undefined
  /** Receives reports of damaged rows that are skipped. Default: `console`. */
  readonly logger?: Logger | undefined
  /** Creates ids of sessions and events. Default: random UUIDs. */
  readonly newId?: (() => string) | undefined
}

/** The schema of the tables unless another one is named. */
export const DEFAULT_SCHEMA = 'toolwright'

const RULES: OptionRules<PostgresOptions> = {
  schema: name,
  leaseMs: anything,
  statementTimeoutMs: anything,
  listen: anything,
  cacheBytes: anything,
  encryptionKeys: anything,
  now: callback,
  monotonicNow: callback,
  newId: callback,
  logger: objectWith('warn', 'error'),
}

/** The services of one Postgres database. Spread them into the options of a runner; `ready` and `close` are not copied. */
export class PostgresServices {
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
  readonly #database: PostgresDatabase

  constructor(
    database: PostgresDatabase,
    services: {
      sessionService: SessionService
      artifactService: ArtifactService
      credentialService: EncryptedCredentialService
      memoryService: MemoryService
      scheduleService: ScheduleService
    },
  ) {
    this.#database = database
    this.sessionService = services.sessionService
    this.artifactService = services.artifactService
    this.credentialService = services.credentialService
    this.memoryService = services.memoryService
    this.scheduleService = services.scheduleService
  }

  /** Connects, and creates or migrates the tables. Optional: the first use does it. Call it to fail early. */
  async ready(): Promise<void> {
    await this.#database.ready()
  }

  /** Closes the connections. A pool that was given to `postgres()` stays open. */
  async close(): Promise<void> {
    await this.#database.close()
  }

  /** Closes the connections at the end of an `await using` scope. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/**
 * Stores sessions, state, artifacts, memory, schedules and encrypted credentials in a Postgres database, which any number of processes
 * on any number of machines can use at once. Needs the package `pg`. Postgres 14 or newer.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, ...postgres(process.env.DATABASE_URL) })
 */
export function postgres(
  database: string | URL | PostgresPool | PostgresConnection,
  options: PostgresOptions = {},
): PostgresServices {
  checkOptions('postgres()', options, RULES)
  const { schema = DEFAULT_SCHEMA, leaseMs = DEFAULT_LEASE_MS, statementTimeoutMs = 10_000 } = options
  const { cacheBytes = 64_000_000, newId = systemPorts.newId, logger = console } = options
  const { source, place } = readSource(database)
  checkSchema(schema)
  checkLeaseMs(leaseMs)
  checkNumber('statementTimeoutMs', statementTimeoutMs, 100)
  checkNumber('cacheBytes', cacheBytes, 0)
  const encryption = encryptionOf(options.encryptionKeys)
  const connections = new Connections(source)
  const leaseClock = options.monotonicNow ?? options.now
  const openListener = listenerOf(options.listen, source)
  const settings = { place, schema, statementTimeoutMs, openListener, logger }
  const opened = new PostgresDatabase({ connections, ...settings, now: leaseClock })
  const now = options.now ?? systemPorts.now
  return new PostgresServices(opened, {
    sessionService: new SqlSessionService(opened, { now, newId, leaseMs, cacheBytes, logger }),
    artifactService: new SqlArtifactService(opened, { now }),
    credentialService: new EncryptedCredentialService(new SqlCredentialStore(opened), encryption),
    memoryService: new SqlMemoryService(opened, { index: tsvector, logger }),
    scheduleService: new SqlScheduleService(opened, { logger }),
  })
}

function listenerOf(listen: unknown, source: PostgresPool | PostgresConnection): OpenListener | undefined {
  if (listen === undefined) return listenClientOf(source)
  if (listen === false) return undefined
  if (typeof listen !== 'string') {
    throw new ToolwrightError('INVALID_CONFIG', `postgres(): listen must be a URL or false, got ${kindOf(listen)}.`)
  }
  placeOf(listen, 'The URL in listen')
  return listenClientOf({ connectionString: listen })
}

/** Checks the name of a schema. Postgres cuts longer names, so that two of them could be one; names that start with pg_ are the server's. */
export function checkSchema(schema: string): void {
  if (Buffer.byteLength(schema) <= 63 && !schema.startsWith('pg_') && !schema.includes('\0') && schema.isWellFormed())
    return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'postgres(): schema must be a name of at most 63 bytes without NUL that does not start with "pg_".',
  )
}

function checkNumber(name: string, value: number, least: number): void {
  if (Number.isFinite(value) && value >= least && value <= 2_147_483_647) return
  throw new ToolwrightError('INVALID_CONFIG', `postgres(): ${name} must be a number >= ${least}, got ${String(value)}.`)
}

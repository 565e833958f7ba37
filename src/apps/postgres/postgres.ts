import { systemPorts } from '../../core/base/ports.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import { EncryptedCredentialService } from '../../services/credential/encrypted.ts'
import type { LimitService } from '../../services/limit/service.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import type { SessionService } from '../../services/session/service.ts'
import { SqlArtifactService } from '../../services/sql/artifact-service.ts'
import { SqlCredentialStore } from '../../services/sql/credential-store.ts'
import { SqlLimitService } from '../../services/sql/limit-service.ts'
import { tsvector } from '../../services/sql/memory-index.ts'
import { SqlMemoryService } from '../../services/sql/memory-service.ts'
import { SqlScheduleService } from '../../services/sql/schedule-service.ts'
import { SqlSessionService } from '../../services/sql/session-service.ts'
import type { WorkerService } from '../../services/worker/service.ts'
import { sqlWorkerService } from '../server/sql-worker-service.ts'
import { PostgresDatabase } from './database.ts'
import { encryptionOf } from './encryption-keys.ts'
import { listenerOf } from './listener.ts'
import { Connections, type PostgresConnection, type PostgresPool } from './pool.ts'
import { type PostgresOptions, readOptions } from './postgres-options.ts'
import { readSource } from './source.ts'

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
  /** Stores limits of the whole fleet. */
  readonly limitService: LimitService
  /** Stores which workers there are. */
  readonly workerService: WorkerService
  readonly #database: PostgresDatabase

  constructor(
    database: PostgresDatabase,
    services: {
      sessionService: SessionService
      artifactService: ArtifactService
      credentialService: EncryptedCredentialService
      memoryService: MemoryService
      scheduleService: ScheduleService
      limitService: LimitService
      workerService: WorkerService
    },
  ) {
    this.#database = database
    this.sessionService = services.sessionService
    this.artifactService = services.artifactService
    this.credentialService = services.credentialService
    this.memoryService = services.memoryService
    this.scheduleService = services.scheduleService
    this.limitService = services.limitService
    this.workerService = services.workerService
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
 * Stores sessions, state, artifacts, memory, schedules, limits and encrypted credentials in a Postgres database, which any number of processes
 * on any number of machines can use at once. Needs the package `pg`. Postgres 14 or newer.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, ...postgres(process.env.DATABASE_URL) })
 */
export function postgres(
  database: string | URL | PostgresPool | PostgresConnection,
  options: PostgresOptions = {},
): PostgresServices {
  const { schema, leaseMs, statementTimeoutMs, cacheBytes, logger } = readOptions(options)
  const { now = systemPorts.now, newId = systemPorts.newId } = options
  const { source, place } = readSource(database)
  const encryption = encryptionOf(options.encryptionKeys)
  const connections = new Connections(source)
  const leaseClock = options.monotonicNow ?? options.now
  const openListener = listenerOf(options.listen, source)
  const settings = { place, schema, statementTimeoutMs, openListener, logger }
  const opened = new PostgresDatabase({ connections, ...settings, now: leaseClock })
  return new PostgresServices(opened, {
    sessionService: new SqlSessionService(opened, { now, newId, leaseMs, cacheBytes, logger }),
    artifactService: new SqlArtifactService(opened, { now }),
    credentialService: new EncryptedCredentialService(new SqlCredentialStore(opened), encryption),
    memoryService: new SqlMemoryService(opened, { index: tsvector, logger }),
    scheduleService: new SqlScheduleService(opened, { logger }),
    limitService: new SqlLimitService(opened),
    workerService: sqlWorkerService(opened, logger),
  })
}

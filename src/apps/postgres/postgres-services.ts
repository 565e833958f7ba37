import type { ArtifactService } from '../../services/artifact/service.ts'
import type { EncryptedCredentialService } from '../../services/credential/encrypted.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import type { SessionService } from '../../services/session/service.ts'
import type { PostgresDatabase } from './database.ts'

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

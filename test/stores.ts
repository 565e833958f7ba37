// Every store of sessions, artifacts and credentials. A new store gets a row here, and the scenarios run on it too.
import {
  type ArtifactService,
  type CredentialService,
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryLimitService,
  InMemorySessionService,
  type LimitService,
  type SessionService,
} from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { emptyStore } from './postgres/empty-store.ts'

/** A store that scenarios run on. */
export interface Store {
  /** Completes a test title after "with sessions": "on SQLite". */
  readonly name: string
  /** Opens an empty store. */
  open(options?: StoreOptions): {
    readonly sessionService: SessionService
    readonly artifactService: ArtifactService
    readonly credentialService: CredentialService
    readonly limitService: LimitService
  }
}

/** Options that every store has. */
export interface StoreOptions {
  /** The clock, in milliseconds since the epoch. */
  readonly now?: (() => number) | undefined
  /** How long a lease lasts without a renewal, in milliseconds. */
  readonly leaseMs?: number | undefined
}

export const stores: readonly Store[] = [
  {
    name: 'in memory',
    open: (options) => ({
      sessionService: new InMemorySessionService(options),
      artifactService: new InMemoryArtifactService({ now: options?.now }),
      credentialService: new InMemoryCredentialService(),
      limitService: new InMemoryLimitService({ monotonicNow: options?.now }),
    }),
  },
  { name: 'on SQLite', open: (options) => sqlite(':memory:', options) },
  // leases on the clock of the process, which tests set: that of the server cannot be set
  {
    name: 'on Postgres',
    open: (options) => emptyStore({ monotonicNow: options?.now ?? millisecondsSinceBoot, ...options }),
  },
]

function millisecondsSinceBoot(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

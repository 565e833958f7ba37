// Every store of sessions and artifacts. A new store gets a row here, and the scenarios run on it too.
import { type ArtifactService, InMemoryArtifactService, InMemorySessionService, type SessionService } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'

/** A store that scenarios run on. */
export interface Store {
  /** Completes a test title after "with sessions": "on SQLite". */
  readonly name: string
  /** Opens an empty store. */
  open(options?: StoreOptions): { readonly sessionService: SessionService; readonly artifactService: ArtifactService }
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
    }),
  },
  { name: 'on SQLite', open: (options) => sqlite(':memory:', options) },
]

import type { ArtifactService, CredentialService, SessionService } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'

/** The services of a store. */
export interface OpenStore {
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService
  readonly credentialService: CredentialService
}

/** Opens a store: the path of a SQLite file. `leaseMs`: how long a lease lives without a renewal. */
export function openStore(store: string, options: { readonly leaseMs?: number | undefined } = {}): OpenStore {
  return sqlite(store, options)
}

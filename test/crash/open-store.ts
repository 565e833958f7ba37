import type { ArtifactService, CredentialService, SessionService } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { sqlite } from 'toolwright/sqlite'

/** The services of a store. */
export interface OpenStore {
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService
  readonly credentialService: CredentialService
}

/**
 * Opens a store: the path of a SQLite file, or the URL of a Postgres database with the parameter `schema`. `leaseMs`: how long a lease
 * lives without a renewal.
 */
export function openStore(store: string, options: { readonly leaseMs?: number | undefined } = {}): OpenStore {
  return isPostgres(store)
    ? postgres(withoutSchema(store), { ...options, schema: schemaOf(store) })
    : sqlite(store, options)
}

/** Is the store on a Postgres server? */
export function isPostgres(store: string): boolean {
  return store.startsWith('postgres:')
}

/** The schema of the tables. */
export function schemaOf(store: string): string {
  return new URL(store).searchParams.get('schema') ?? 'toolwright'
}

/** The URL as Postgres knows it. */
export function withoutSchema(store: string): string {
  const url = new URL(store)
  url.searchParams.delete('schema')
  return url.href
}

import { loadPeer } from '../../core/error/load-peer.ts'
import { CONNECT_MS, isPool, type PostgresConnection, type PostgresPool } from './pool.ts'

/** A connection of its own, for messages of the server. */
export interface ListenClient {
  /** Connects. */
  connect(): Promise<unknown>
  /** Runs a statement. */
  query(text: string): Promise<{ readonly rows: readonly { readonly [column: string]: unknown }[] }>
  /** Adds a listener for errors. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Adds a listener for the end. */
  on(event: 'end', listener: () => void): unknown
  /** Adds a listener for messages. */
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  /** Lets the process end while it is open. */
  unref?(): void
  /** Closes it. */
  end(): Promise<unknown>
}

/** Makes connections of their own to the database of a source. Undefined for a pool that does not tell where it connects to. */
export function listenClientOf(source: PostgresPool | PostgresConnection): (() => Promise<ListenClient>) | undefined {
  if (!isPool(source)) return () => openClient(source)
  const { options } = source as { options?: PostgresConnection }
  return options && (() => openClient(options))
}

async function openClient(connection: PostgresConnection): Promise<ListenClient> {
  const { Client } = await loadPeer('pg', () => import('pg'))
  // `pg` hides the password of the options of a pool from copies
  const { password, connectionString, host, port, database, user, ssl } = connection as PostgresConnection & {
    ssl?: boolean
  }
  const options = { connectionString, host, port, database, user, password, ssl }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return new Client({
    ...given,
    fallback_application_name: 'toolwright listen',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
  })
}

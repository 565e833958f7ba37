// The parts of `pg` that are used, as interfaces: a pool of the user may come from another version of `pg` than ours.
import { systemPorts } from '../../core/base/ports.ts'
import { loadPeer } from '../../core/error/load-peer.ts'

/** A pool of `pg`: `new pg.Pool()`. */
export interface PostgresPool {
  /** Takes a connection. */
  connect(): Promise<PostgresClient>
  /** Adds a listener for idle connections that are lost. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Adds a listener for new connections. */
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown
  /** Removes a listener. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /** Removes a listener. */
  removeListener(event: 'connect', listener: (client: PostgresClient) => void): unknown
}

/** A connection of a pool. */
export interface PostgresClient {
  /** Runs a query. */
  query(query: unknown): unknown
  /** Gives the connection back. With an error, it is closed. */
  release(error?: Error | boolean): void
  /** Adds a listener. */
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** How to connect: the options of `new pg.Pool()`. */
export interface PostgresConnection {
  /** A URL: `postgres://user:password@host:5432/database`. */
  readonly connectionString?: string | undefined
  /** Default: `localhost`. */
  readonly host?: string | undefined
  /** Default: 5432. */
  readonly port?: number | undefined
  /** The name of the database. */
  readonly database?: string | undefined
  /** The role. */
  readonly user?: string | undefined
  /** The password, or a function that returns it. */
  readonly password?: string | (() => string | Promise<string>) | undefined
  /** The most connections. Default: 10. */
  readonly max?: number | undefined
  /** Other options of `pg`, such as `ssl`. */
  readonly [option: string]: unknown
}

/** How long to wait for a connection of the pool, or for a new one. */
export const CONNECT_MS: number = 5_000

/** The connections of one database. A pool of the user stays open. */
export class Connections {
  readonly #open: () => Promise<OwnPool | PostgresPool>
  readonly #isOwn: boolean
  #pool: Promise<OwnPool | PostgresPool> | undefined

  constructor(source: PostgresPool | PostgresConnection) {
    this.#isOwn = !isPool(source)
    this.#open = async () => {
      const pool = isPool(source) ? source : await openPool(source)
      pool.on('error', ignore)
      pool.on('connect', guard)
      return pool
    }
  }

  /** Takes a connection. It fails if there is none for some seconds, also in a pool without a limit of its own. */
  async take(): Promise<PostgresClient> {
    this.#pool ??= this.#open()
    const client = await withTimeout((await this.#pool).connect())
    guard(client)
    return client
  }

  /** Gives a connection back. With an error, it is closed. */
  give(client: PostgresClient, error?: unknown): void {
    client.release(error !== undefined)
  }

  /** Ends the pool, unless it is the user's. */
  async close(): Promise<void> {
    const pool = await this.#pool?.catch(ignore)
    if (!pool) return
    if (this.#isOwn) await (pool as OwnPool).end()
    else {
      pool.removeListener('error', ignore)
      pool.removeListener('connect', guard)
    }
  }
}

/** Connections with a listener for errors. */
const guarded = new WeakSet<PostgresClient>()

/**
 * A connection that is lost tells it to its queries, and to its listeners: without one, the process would end. The pool has one only
 * while the connection is idle.
 */
function guard(client: PostgresClient): void {
  if (guarded.has(client)) return
  guarded.add(client)
  client.on('error', ignore)
}

interface OwnPool extends PostgresPool {
  end(): Promise<void>
}

async function openPool(connection: PostgresConnection): Promise<OwnPool> {
  const { Pool } = await loadPeer('pg', () => import('pg'))
  return new Pool({
    fallback_application_name: 'toolwright',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    allowExitOnIdle: true, // the end of the process needs no close()
    ...connection,
  })
}

/** Is it a pool, and not the options of one? */
export function isPool(source: PostgresPool | PostgresConnection): source is PostgresPool {
  return typeof source.connect === 'function'
}

/** Rejects like a pool with a limit. A connection that comes later goes back. */
function withTimeout(connecting: Promise<PostgresClient>): Promise<PostgresClient> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const cancel = systemPorts.setTimer(() => {
      isLate = true
      reject(new Error('timeout exceeded when trying to connect'))
    }, CONNECT_MS + 1_000)
    connecting.then(
      (client) => {
        cancel()
        if (isLate) client.release()
        else resolve(client)
      },
      (error: unknown) => {
        cancel()
        reject(error)
      },
    )
  })
}

function ignore(): void {}

// The database: a server that this repository has for its tests, which ends with this process, or yours.

/** A running Postgres server. */
export interface Database {
  /** Its URL. */
  readonly url: string
  /** Kills the server and starts it again. Undefined for yours. */
  readonly killAndStart: (() => Promise<void>) | undefined
  /** Stops the server. Leaves yours alone. */
  close(): Promise<void>
}

/** Starts Postgres, or uses the server of `DATABASE_URL`. */
export async function openDatabase(): Promise<Database> {
  const { DATABASE_URL: url } = process.env
  if (url) return { url, killAndStart: undefined, close: async () => {} }
  const { startServer } = await import('../../test/postgres/server.ts')
  const server = await startServer()
  const killAndStart = async (): Promise<void> => {
    await server.send('kill')
    await server.send('start')
  }
  return { url: server.url, killAndStart, close: () => server.close() }
}

// Empty stores on the shared server. Creating tables takes longer than most tests, so that a schema is emptied and used again.
import { randomBytes, randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { type PostgresOptions, type PostgresServices, postgres } from 'toolwright/postgres'
import { inject, onTestFinished } from 'vitest'

const KEY = randomBytes(32).toString('base64')

/** Opens empty stores. Each closes after its test. */
type OpenEmptyStore = (options?: PostgresOptions) => PostgresServices

/** Opens an empty store on the shared server. It closes after the test. */
export const emptyStore: OpenEmptyStore = emptyStores(() => inject('postgresUrl'))

/** Opens empty stores behind an address, which is asked for when the first one is opened. */
export function emptyStores(urlOf: () => string): OpenEmptyStore {
  let pool: Pool | undefined
  const unused: string[] = []
  return (options = {}) => {
    pool ??= poolOf(urlOf())
    const known = unused.pop()
    const schema = known ?? `test_${randomUUID()}`
    const services = postgres(known === undefined ? pool : emptied(pool, schema), {
      encryptionKeys: [KEY],
      ...options,
      schema,
    })
    closeAfterTest(services, () => unused.push(schema))
    return services
  }
}

/** The connections of this worker. */
function poolOf(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 20, allowExitOnIdle: true })
  pool.setMaxListeners(0) // each store adds its own
  pool.on('error', () => {}) // the server stops after the last test
  return pool
}

/** The shared pool, which empties a schema before it gives the first connection. */
function emptied(shared: Pool, schema: string): Pool {
  let isEmpty: Promise<unknown> | undefined
  const connect = async (): Promise<unknown> => {
    isEmpty ??= shared.query(DELETE_ALL.replaceAll('THE_SCHEMA', schema))
    await isEmpty
    return await shared.connect()
  }
  return new Proxy(shared, {
    get: (target, name) => (name === 'connect' ? connect : Reflect.get(target, name, target)),
  })
}

const DELETE_ALL = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables
    WHERE schemaname = 'THE_SCHEMA' AND tablename NOT IN ('toolwright_meta', 'toolwright_uptime') LOOP
    EXECUTE format('DELETE FROM %I.%I', 'THE_SCHEMA', name);
  END LOOP;
END $$`

function closeAfterTest(services: PostgresServices, onClosed: () => void): void {
  try {
    onTestFinished(async () => {
      await services.close()
      onClosed()
    })
  } catch {
    // opened outside of a test: the schema is not used again
  }
}

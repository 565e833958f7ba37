// Empty stores on the shared server. Creating tables takes longer than most tests, so that a schema is emptied and used again.
import { randomBytes, randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { type PostgresOptions, type PostgresServices, postgres } from 'toolwright/postgres'
import { inject, onTestFinished } from 'vitest'

const KEY = randomBytes(32).toString('base64')
let pool: Pool | undefined
const unused: string[] = []

/** Opens an empty store. It closes after the test. */
export function emptyStore(options: PostgresOptions = {}): PostgresServices {
  const known = unused.pop()
  const schema = known ?? `test_${randomUUID()}`
  const services = postgres(known === undefined ? sharedPool() : emptied(schema), {
    encryptionKeys: [KEY],
    ...options,
    schema,
  })
  closeAfterTest(services, schema)
  return services
}

/** The connections of this worker. */
function sharedPool(): Pool {
  if (pool) return pool
  pool = new Pool({ connectionString: inject('postgresUrl'), max: 20, allowExitOnIdle: true })
  pool.setMaxListeners(0) // each store adds its own
  pool.on('error', () => {}) // the server stops after the last test
  return pool
}

/** The shared pool, which empties a schema before it gives the first connection. */
function emptied(schema: string): Pool {
  const shared = sharedPool()
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

function closeAfterTest(services: PostgresServices, schema: string): void {
  try {
    onTestFinished(async () => {
      await services.close()
      unused.push(schema)
    })
  } catch {
    // opened outside of a test: the schema is not used again
  }
}

import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import { emptyStores } from '../../../test/postgres/empty-store.ts'
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../../../test/postgres/pgbouncer.ts'
import { sessionServiceSuite } from '../../adapters/testing/suites/session-service-suite.ts'

describe.skipIf(!hasPgBouncer())('behind PgBouncer in transaction mode (skipped without pgbouncer)', () => {
  let pooler: PgBouncer
  const emptyStore = emptyStores(() => pooler.url)
  beforeAll(async () => {
    pooler = await startPgBouncer(inject('postgresUrl'), 8)
  })
  afterAll(() => pooler.close())

  sessionServiceSuite(test, (options) => {
    const services = emptyStore(options)
    return { service: services.sessionService, close: () => services.close() }
  })
})

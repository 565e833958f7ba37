import { test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { sessionServiceSuite } from '../../adapters/testing/suites/session-service-suite.ts'

sessionServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.sessionService, close: () => services.close() }
})

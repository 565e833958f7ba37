import { test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { limitServiceSuite } from '../../adapters/testing/suites/limit-service-suite.ts'

limitServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.limitService, close: () => services.close() }
})

import { test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { workerServiceSuite } from '../../adapters/testing/suites/worker-service-suite.ts'

workerServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.workerService, close: () => services.close() }
})

import { test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { scheduleServiceSuite } from '../../adapters/testing/suites/schedule-service-suite.ts'

scheduleServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.scheduleService, close: () => services.close() }
})

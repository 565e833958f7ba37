import { test } from 'vitest'
import { sessionServiceSuite } from '../../adapters/testing/suites/session-service-suite.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

sessionServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.sessionService, close: () => services.close() }
})

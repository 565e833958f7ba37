import { test } from 'vitest'
import { sessionServiceSuite } from '../testing/session-suite.ts'
import { temporaryFile } from './file.test-kit.ts'
import { sqlite } from './sqlite.ts'

sessionServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.sessionService, close: () => services.close() }
})

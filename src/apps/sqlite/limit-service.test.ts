import { sqlite } from 'toolwright/sqlite'
import { limitServiceSuite } from 'toolwright/testing'
import { test } from 'vitest'
import { temporaryFile } from './temporary-file.test-kit.ts'

limitServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.limitService, close: () => services.close() }
})

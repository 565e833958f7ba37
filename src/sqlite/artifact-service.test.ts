import { test } from 'vitest'
import { artifactServiceSuite } from '../testing/artifact-suite.ts'
import { temporaryFile } from './file.test-kit.ts'
import { sqlite } from './sqlite.ts'

artifactServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.artifactService, close: () => services.close() }
})

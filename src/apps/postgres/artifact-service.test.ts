import { test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { artifactServiceSuite } from '../../adapters/testing/suites/artifact-service-suite.ts'

artifactServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.artifactService, close: () => services.close() }
})

import { randomBytes } from 'node:crypto'
import { test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { credentialServiceSuite } from '../../adapters/testing/suites/credential-service-suite.ts'

credentialServiceSuite(test, () => {
  const services = emptyStore({ encryptionKeys: [randomBytes(32).toString('base64')] })
  return { service: services.credentialService, close: () => services.close() }
})

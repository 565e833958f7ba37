import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { credentialServiceSuite } from '../../adapters/testing/suites/credential-service-suite.ts'
import { InMemoryCredentialService } from './in-memory.ts'

credentialServiceSuite(test, () => new InMemoryCredentialService())

test('InMemoryCredentialService does not reveal a secret when it is printed', async () => {
  const service = new InMemoryCredentialService()
  const key = { appName: 'shop', userId: 'ada', key: 'mail' }
  await service.save({ ...key, credential: { authType: 'apiKey', apiKey: 'sk-secret' } })
  expect(inspect(service, { depth: 9, showHidden: true }) + JSON.stringify(service)).not.toContain('sk-secret')
})

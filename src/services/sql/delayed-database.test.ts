// The rules on a database that answers later: no rule depends on running in one turn of the event loop.
import { describe, expect, test } from 'vitest'
import { artifactServiceSuite } from '../../adapters/testing/suites/artifact-service-suite.ts'
import { credentialServiceSuite } from '../../adapters/testing/suites/credential-service-suite.ts'
import { scheduleServiceSuite } from '../../adapters/testing/suites/schedule-service-suite.ts'
import { sessionServiceSuite } from '../../adapters/testing/suites/session-service-suite.ts'
import { workerServiceSuite } from '../../adapters/testing/suites/worker-service-suite.ts'
import { delayedDatabase } from '../../apps/sqlite/delayed-database.test-kit.ts'
import { EncryptedCredentialService } from '../credential/encrypted.ts'
import { SqlArtifactService } from './artifact-service.ts'
import { SqlCredentialStore } from './credential-store.ts'
import { SqlScheduleService } from './schedule-service.ts'
import { SqlWorkerService } from './worker-service.ts'

describe('on a SQL database that answers later', () => {
  sessionServiceSuite(
    (name, run) => test(name, run, 30_000),
    (clocks) => {
      const { process, close } = delayedDatabase(clocks)
      return { service: process().sessionService, close }
    },
  )

  artifactServiceSuite(test, (clocks) => {
    const { process, close } = delayedDatabase(clocks)
    return { service: new SqlArtifactService(process().database, clocks), close }
  })

  scheduleServiceSuite(test, (clocks) => {
    const { process, close } = delayedDatabase(clocks)
    return { service: new SqlScheduleService(process().database, { logger: console }), close }
  })

  workerServiceSuite(test, (clocks) => {
    const { process, close } = delayedDatabase(clocks)
    return { service: new SqlWorkerService(process().database, { logger: console }), close }
  })

  credentialServiceSuite(test, () => {
    const { process, close } = delayedDatabase()
    const encryptionKeys = [Buffer.alloc(32, 1).toString('base64')]
    return {
      service: new EncryptedCredentialService(new SqlCredentialStore(process().database), { encryptionKeys }),
      close,
    }
  })
})

test('two saves of one artifact at the same time get two versions', async () => {
  const { process, close } = delayedDatabase()
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1', filename: 'a.txt' }
  const services = [process(), process()].map(({ database }) => new SqlArtifactService(database, { now: () => 0 }))
  const saves = services.flatMap((service) => [service, service])
  const versions = await Promise.all(saves.map((service) => service.saveArtifact({ ...key, artifact: { text: 'x' } })))
  expect(versions.toSorted()).toEqual([0, 1, 2, 3])
  close()
})

import type { AuthCredential } from '../../content/auth.ts'
import type { CredentialKey, CredentialService } from '../../credential/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { HOSTILE_IDS, SPLIT_PAIRS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'

const HOME: CredentialKey = { appName: 'shop', userId: 'ada', key: 'mail' }

/**
 * Tests the contract of `CredentialService`.
 *
 * @example
 * credentialServiceSuite(test, () => new InMemoryCredentialService())
 */
export function credentialServiceSuite(test: SuiteTest, make: MakeService<CredentialService>): void {
  const serviceTest = createServiceTest(test, make)

  serviceTest('a credential is returned as it was saved, with its generation', async (service) => {
    equal(await service.load(HOME), undefined)
    const credential: AuthCredential = {
      authType: 'oauth2',
      oauth2: { accessToken: 'token', refreshToken: 'refresh', expiresAt: 1_700_000_000.5, scopes: ['mail.read'] },
    }
    const generation = await service.save({ ...HOME, credential })
    deepEqual(await service.load(HOME), { credential, generation })
  })

  serviceTest('the generation grows with every save', async (service) => {
    const first = await service.save({ ...HOME, credential: apiKey('one') })
    const second = await service.save({ ...HOME, credential: apiKey('two') })
    ok(first > 0 && second > first, `${second} after ${first}`)
    deepEqual(await service.load(HOME), { credential: apiKey('two'), generation: second })
  })

  serviceTest(
    'a save with an outdated generation is STALE_APPEND and its error contains no secret',
    async (service) => {
      const first = await service.save({ ...HOME, credential: apiKey('one') })
      const second = await service.save({ ...HOME, credential: apiKey('two'), expectedGeneration: first })
      for (const expectedGeneration of [0, first, second + 1, -1, Number.NaN]) {
        const late = service.save({ ...HOME, credential: apiKey('late secret'), expectedGeneration })
        const message = await rejectsWith(late, 'STALE_APPEND')
        ok(!message.includes('two') && !message.includes('secret'), `no secret in: ${message}`)
      }
      deepEqual(await service.load(HOME), { credential: apiKey('two'), generation: second })
    },
  )

  serviceTest('only the first of several saves with expectedGeneration 0 succeeds', async (service) => {
    const saves = await Promise.allSettled(
      ['a', 'b', 'c'].map((secret) => service.save({ ...HOME, credential: apiKey(secret), expectedGeneration: 0 })),
    )
    equal(saves.filter((save) => save.status === 'fulfilled').length, 1)
    await rejectsWith(service.save({ ...HOME, credential: apiKey('d'), expectedGeneration: 0 }), 'STALE_APPEND')
    await rejectsWith(
      service.save({ ...HOME, key: 'other', credential: apiKey('d'), expectedGeneration: 1 }),
      'STALE_APPEND',
    )
  })

  serviceTest('delete removes a credential and returns whether there was one', async (service) => {
    equal(await service.delete(HOME), false)
    await service.save({ ...HOME, credential: apiKey('one') })
    equal(await service.delete(HOME), true)
    equal(await service.load(HOME), undefined)
    equal(await service.delete(HOME), false)
  })

  serviceTest('a delete with an outdated generation deletes nothing', async (service) => {
    const first = await service.save({ ...HOME, credential: apiKey('one') })
    const second = await service.save({ ...HOME, credential: apiKey('two') })
    for (const expectedGeneration of [0, first, second + 1, Number.NaN]) {
      equal(await service.delete({ ...HOME, expectedGeneration }), false)
    }
    deepEqual((await service.load(HOME))?.credential, apiKey('two'))
    equal(await service.delete({ ...HOME, expectedGeneration: second }), true)
    equal(await service.load(HOME), undefined)
    equal(await service.delete({ ...HOME, expectedGeneration: 0 }), false)
  })

  serviceTest('a credential saved after a delete has a new generation', async (service) => {
    const before = await service.save({ ...HOME, credential: apiKey('one') })
    await service.delete(HOME)
    const after = await service.save({ ...HOME, credential: apiKey('two'), expectedGeneration: 0 })
    ok(after > before, `${after} after ${before}`)
    equal(await service.delete({ ...HOME, expectedGeneration: before }), false)
    await rejectsWith(
      service.save({ ...HOME, credential: apiKey('three'), expectedGeneration: before }),
      'STALE_APPEND',
    )
  })

  serviceTest(
    'changing a credential object after saving or loading does not change the stored one',
    async (service) => {
      const credential = { authType: 'oauth2', oauth2: { accessToken: 'token', scopes: ['a'] } }
      await service.save({ ...HOME, credential })
      credential.oauth2.scopes.push('spoiled')
      const loaded = (await service.load(HOME)) as { credential: typeof credential; generation: number } | undefined
      if (loaded) {
        loaded.credential.oauth2.accessToken = 'spoiled'
        loaded.generation = 99
      }
      const stored = await service.load(HOME)
      deepEqual(stored?.credential, { authType: 'oauth2', oauth2: { accessToken: 'token', scopes: ['a'] } })
      ok(stored?.generation !== 99, 'the generation was changed')
    },
  )

  serviceTest('another user, app or key can neither read, replace nor delete a credential', async (service) => {
    const generation = await service.save({ ...HOME, credential: apiKey('mine') })
    for (const other of [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
      { ...HOME, key: 'calendar' },
    ]) {
      equal(await service.load(other), undefined)
      equal(await service.delete(other), false)
      equal(await service.delete({ ...other, expectedGeneration: generation }), false)
      await service.save({ ...other, credential: apiKey('theirs'), expectedGeneration: 0 })
    }
    deepEqual(await service.load(HOME), { credential: apiKey('mine'), generation })
  })

  serviceTest(
    'credentials under hostile ids are stored separately or rejected with INVALID_REQUEST',
    async (service) => {
      const keys = [
        ...HOSTILE_IDS.map((appName) => ({ ...HOME, appName })),
        ...HOSTILE_IDS.map((userId) => ({ ...HOME, userId })),
        ...HOSTILE_IDS.map((key) => ({ ...HOME, key })),
        ...SPLIT_PAIRS.map(([appName, userId]) => ({ ...HOME, appName, userId })),
        ...SPLIT_PAIRS.map(([userId, key]) => ({ ...HOME, userId, key })),
      ]
      const accepted: CredentialKey[] = []
      for (const [index, key] of keys.entries()) {
        try {
          await service.save({ ...key, credential: apiKey(`secret ${index}`), expectedGeneration: 0 })
          accepted[index] = key
        } catch (error) {
          if (codeOf(error) !== 'INVALID_REQUEST') throw error
        }
      }
      ok(Object.keys(accepted).length > keys.length / 2, 'the service must accept most hostile ids')
      for (const [index, key] of accepted.entries()) {
        if (key) deepEqual((await service.load(key))?.credential, apiKey(`secret ${index}`))
      }
    },
  )
}

function apiKey(secret: string): AuthCredential {
  return { authType: 'apiKey', apiKey: secret }
}

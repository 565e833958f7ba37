import type { AuthCredential } from '../../../core/content/auth.ts'
import type { CredentialKey, CredentialService } from '../../../services/credential/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import { apiKey, credentialGenerationTests, HOME } from './credential-generation-tests.ts'
import { HOSTILE_IDS, SPLIT_PAIRS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'

/**
 * Tests the contract of `CredentialService`.
 *
 * @example
 * credentialServiceSuite(test, () => new InMemoryCredentialService())
 */
export function credentialServiceSuite(test: SuiteTest, make: MakeService<CredentialService>): void {
  const serviceTest = createServiceTest(test, make)
  credentialGenerationTests(serviceTest)

  serviceTest('a credential is returned as it was saved, with its generation', async (service) => {
    equal(await service.load(HOME), undefined)
    const credential: AuthCredential = {
      authType: 'oauth2',
      oauth2: { accessToken: 'token', refreshToken: 'refresh', expiresAt: 1_700_000_000.5, scopes: ['mail.read'] },
    }
    const generation = await service.save({ ...HOME, credential })
    deepEqual(await service.load(HOME), { credential, generation })
  })

  serviceTest('delete removes a credential and returns whether there was one', async (service) => {
    equal(await service.delete(HOME), false)
    await service.save({ ...HOME, credential: apiKey('one') })
    equal(await service.delete(HOME), true)
    equal(await service.load(HOME), undefined)
    equal(await service.delete(HOME), false)
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

  serviceTest('two loads of a credential return separate objects', async (service) => {
    const credential: AuthCredential = { authType: 'own', custom: { list: [{ deep: 'value' }], none: null, no: false } }
    await service.save({ ...HOME, credential: Object.freeze(credential) })
    const [first, second] = [await service.load(HOME), await service.load(HOME)]
    const custom = first?.credential.custom as { list: { deep: string }[] }
    custom.list.push({ deep: 'spoiled' })
    deepEqual(second?.credential, credential)
    deepEqual((await service.load(HOME))?.credential, credential)
  })

  serviceTest('a credential with long and unusual text is returned unchanged', async (service) => {
    const text = '\0 \u2028 "quoted" \\ \ud800 {{}} \u{1f511} caf\u00e9 '
    const credential: AuthCredential = {
      authType: 'oauth2',
      oauth2: { accessToken: 'x'.repeat(100_000), refreshToken: text, scopes: [text, ''] },
      custom: { [text]: text.repeat(1000) },
    }
    await service.save({ ...HOME, credential })
    deepEqual((await service.load(HOME))?.credential, credential)
  })

  serviceTest('list returns the keys of one user, sorted and without secrets', async (service) => {
    if (!service.list) return // optional
    const { appName, userId } = HOME
    deepEqual(await service.list({ appName, userId }), [])
    for (const key of ['mail', 'a"b', 'calendar', 'consent:1']) {
      await service.save({ ...HOME, key, credential: apiKey('list secret') })
    }
    await service.save({ ...HOME, userId: 'bob', key: 'of bob', credential: apiKey('list secret') })
    await service.save({ ...HOME, appName: 'desk', key: 'of desk', credential: apiKey('list secret') })
    deepEqual(await service.list({ appName, userId }), ['a"b', 'calendar', 'consent:1', 'mail'])
    await service.delete({ ...HOME, key: 'calendar' })
    deepEqual(await service.list({ appName, userId }), ['a"b', 'consent:1', 'mail'])
    await rejectsWith(service.list({ appName, userId: '' }), 'INVALID_REQUEST')
  })

  serviceTest('list tells users and apps with similar names apart', async (service) => {
    if (!service.list) return // optional
    for (const [index, [appName, userId]] of SPLIT_PAIRS.entries()) {
      await service.save({ appName, userId, key: `key ${index}`, credential: apiKey('x') })
    }
    for (const [index, [appName, userId]] of SPLIT_PAIRS.entries()) {
      deepEqual(await service.list({ appName, userId }), [`key ${index}`])
    }
  })

  serviceTest('invalid ids of a credential are INVALID_REQUEST', async (service) => {
    for (const bad of ['', 'x'.repeat(1001), 7, null, {}, ['a']] as string[]) {
      for (const key of [
        { ...HOME, appName: bad },
        { ...HOME, userId: bad },
        { ...HOME, key: bad },
      ]) {
        await rejectsWith(service.load(key), 'INVALID_REQUEST')
        await rejectsWith(service.save({ ...key, credential: apiKey('one') }), 'INVALID_REQUEST')
        await rejectsWith(service.delete(key), 'INVALID_REQUEST')
      }
    }
  })

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

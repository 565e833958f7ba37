import type { AuthCredential } from '../../../core/content/auth.ts'
import type { CredentialKey, CredentialService } from '../../../services/credential/service.ts'
import { codeOf, deepEqual, equal, ok, rejectsWith } from './assert.ts'
import type { ServiceTest } from './service-test.ts'

/** The key of most tests. */
export const HOME: CredentialKey = { appName: 'shop', userId: 'ada', key: 'mail' }

/** Tests generations: compare-and-set, compare-and-delete, and writers that compete. */
export function credentialGenerationTests(serviceTest: ServiceTest<CredentialService>): void {
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

  serviceTest('generations grow over many saves and deletes, and no generation is used twice', async (service) => {
    let last = 0
    for (let round = 0; round < 20; round++) {
      const generation = await service.save({ ...HOME, credential: apiKey(`${round}`), expectedGeneration: 0 })
      ok(generation > last, `${generation} after ${last}`)
      if (last > 0) equal(await service.delete({ ...HOME, expectedGeneration: last }), false)
      equal(await service.delete({ ...HOME, expectedGeneration: generation }), true)
      last = generation
    }
  })

  serviceTest(
    'exactly one of many saves of the same generation succeeds, and its credential is stored',
    async (service) => {
      let generation = await service.save({ ...HOME, credential: apiKey('first') })
      for (let round = 0; round < 5; round++) {
        const expectedGeneration = generation
        const saves = await Promise.allSettled(
          Array.from({ length: 20 }, (_, writer) =>
            service.save({ ...HOME, credential: apiKey(`${round} ${writer}`), expectedGeneration }),
          ),
        )
        const winners = saves.flatMap((save, writer) => (save.status === 'fulfilled' ? [{ writer, ...save }] : []))
        equal(winners.length, 1, 'number of saves that succeeded')
        for (const save of saves) if (save.status === 'rejected') equal(codeOf(save.reason), 'STALE_APPEND')
        generation = winners[0]?.value ?? 0
        deepEqual(await service.load(HOME), { credential: apiKey(`${round} ${winners[0]?.writer}`), generation })
      }
    },
  )

  serviceTest('exactly one of a save and a delete of the same generation succeeds', async (service) => {
    for (let round = 0; round < 10; round++) {
      const expectedGeneration = await service.save({ ...HOME, credential: apiKey('old') })
      const save = (): Promise<boolean> =>
        service.save({ ...HOME, credential: apiKey('new'), expectedGeneration }).then(
          () => true,
          (error) => {
            if (codeOf(error) !== 'STALE_APPEND') throw error
            return false
          },
        )
      const remove = (): Promise<boolean> => service.delete({ ...HOME, expectedGeneration })
      const [first, second] = await Promise.all(round % 2 === 0 ? [save(), remove()] : [remove(), save()])
      ok(first !== second, `save and delete: ${first}, ${second}`)
      const isSaved = round % 2 === 0 ? first : second
      deepEqual((await service.load(HOME))?.credential, isSaved ? apiKey('new') : undefined)
    }
  })

  serviceTest('exactly one of several deletes returns true', async (service) => {
    const expectedGeneration = await service.save({ ...HOME, credential: apiKey('one') })
    const deleted = await Promise.all([
      service.delete(HOME),
      service.delete({ ...HOME, expectedGeneration }),
      service.delete({ ...HOME, expectedGeneration }),
    ])
    equal(deleted.filter(Boolean).length, 1)
    equal(await service.load(HOME), undefined)
  })

  serviceTest('no update is lost when writers load, change and save with expectedGeneration', async (service) => {
    await service.save({ ...HOME, credential: { authType: 'own', custom: { count: 0 } } })
    await Promise.all(Array.from({ length: 5 }, () => countUp(service, 5)))
    deepEqual((await service.load(HOME))?.credential, { authType: 'own', custom: { count: 25 } })
  })

  serviceTest('the generation of one credential does not allow a save of another', async (service) => {
    const mine = await service.save({ ...HOME, credential: apiKey('mine') })
    for (const other of [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
      { ...HOME, key: 'calendar' },
    ]) {
      await rejectsWith(
        service.save({ ...other, credential: apiKey('theirs'), expectedGeneration: mine }),
        'STALE_APPEND',
      )
      equal(await service.load(other), undefined)
    }
    deepEqual(await service.load(HOME), { credential: apiKey('mine'), generation: mine })
  })
}

/** An API key. */
export function apiKey(secret: string): AuthCredential {
  return { authType: 'apiKey', apiKey: secret }
}

async function countUp(service: CredentialService, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const stored = await service.load(HOME)
    const credential = { authType: 'own', custom: { count: Number(stored?.credential.custom?.count) + 1 } }
    try {
      await service.save({ ...HOME, credential, expectedGeneration: stored?.generation })
      done++
    } catch (error) {
      if (codeOf(error) !== 'STALE_APPEND') throw error
    }
  }
}

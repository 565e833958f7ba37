import type { ArtifactKey, ArtifactService } from '../../../services/artifact/service.ts'
import { codeOf, deepEqual, equal, ok } from './assert.ts'
import { HOSTILE_IDS, SPLIT_PAIRS } from './hostile-ids.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'

const HOME: ArtifactKey = { appName: 'shop', userId: 'ada', sessionId: 's1', filename: 'bill.txt' }

/**
 * Tests the contract of `ArtifactService`.
 *
 * @example
 * artifactServiceSuite(test, (options) => new InMemoryArtifactService(options))
 */
export function artifactServiceSuite(test: SuiteTest, make: MakeService<ArtifactService>): void {
  const serviceTest = createServiceTest(test, make)

  serviceTest(
    'saveArtifact numbers versions from 0 and loadArtifact returns the latest by default',
    async (service) => {
      equal(await save(service, HOME, 'first'), 0)
      equal(await save(service, HOME, 'second'), 1)
      deepEqual(await service.loadArtifact(HOME), { text: 'second' })
      deepEqual(await service.loadArtifact({ ...HOME, version: 0 }), { text: 'first' })
      deepEqual(await service.loadArtifact({ ...HOME, version: 1 }), { text: 'second' })
      deepEqual(await service.listVersions(HOME), [0, 1])
    },
  )

  serviceTest('an artifact that was never saved is undefined and has empty lists', async (service) => {
    equal(await service.loadArtifact(HOME), undefined)
    equal(await service.loadArtifact({ ...HOME, version: 0 }), undefined)
    equal(await service.getArtifactVersion(HOME), undefined)
    deepEqual(await service.listVersions(HOME), [])
    deepEqual(await service.listArtifactVersions(HOME), [])
    deepEqual(await service.listArtifactKeys(HOME), [])
    await service.deleteArtifact(HOME)
  })

  serviceTest('an impossible version number is undefined', async (service) => {
    await save(service, HOME, 'first')
    await save(service, HOME, 'second')
    for (const version of [2, -1, -2, 0.5, 1e9, 2 ** 53, 1e300, Number.POSITIVE_INFINITY, Number.NaN]) {
      equal(await service.loadArtifact({ ...HOME, version }), undefined, `version ${version}`)
      equal(await service.getArtifactVersion({ ...HOME, version }), undefined, `version ${version}`)
    }
  })

  serviceTest('text, inline data and file references are returned as they were saved', async (service) => {
    const parts = [
      { text: 'naïve 🍎 日本語' },
      { text: '' },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=', displayName: 'a.png' } },
      { inlineData: { mimeType: 'application/octet-stream', data: '' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'gs://bucket/a.pdf' } },
    ]
    for (const [version, artifact] of parts.entries()) {
      equal(await service.saveArtifact({ ...HOME, artifact }), version)
      deepEqual(await service.loadArtifact({ ...HOME, version }), artifact)
    }
  })

  serviceTest('a version has its MIME type, creation time and custom metadata', async (service, clock) => {
    const artifact = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
    await service.saveArtifact({ ...HOME, artifact, customMetadata: { source: 'camera' } })
    clock.time += 1500
    await service.saveArtifact({ ...HOME, artifact: { text: 'plain' } })
    const first = {
      version: 0,
      mimeType: 'image/png',
      createTime: 1_700_000_000,
      customMetadata: { source: 'camera' },
    }
    const second = { version: 1, mimeType: 'text/plain', createTime: 1_700_000_001.5 }
    deepEqual(await service.listArtifactVersions(HOME), [first, second])
    deepEqual(await service.getArtifactVersion({ ...HOME, version: 0 }), first)
    deepEqual(await service.getArtifactVersion(HOME), second)
  })

  serviceTest('listArtifactKeys lists each filename once, sorted, with the files of the user', async (service) => {
    for (const filename of ['b.txt', 'a.txt', 'user:me.png', 'b.txt', 'z.txt']) {
      await save(service, { ...HOME, filename }, 'x')
    }
    deepEqual(await service.listArtifactKeys(HOME), ['a.txt', 'b.txt', 'user:me.png', 'z.txt'])
    deepEqual(await service.listArtifactKeys({ ...HOME, sessionId: 's2' }), ['user:me.png'])
  })

  serviceTest('a user: file is shared by all sessions of the user', async (service) => {
    const here = { ...HOME, filename: 'user:me.png' }
    const there = { ...here, sessionId: 's2' }
    equal(await save(service, here, 'first'), 0)
    equal(await save(service, there, 'second'), 1)
    deepEqual(await service.loadArtifact(here), { text: 'second' })
    deepEqual(await service.listVersions(there), [0, 1])
    await service.deleteArtifact(there)
    equal(await service.loadArtifact(here), undefined)
  })

  serviceTest('deleteArtifact deletes all versions of one file only', async (service) => {
    const other = { ...HOME, filename: 'other.txt' }
    await save(service, HOME, 'first')
    await save(service, HOME, 'second')
    await save(service, other, 'kept')
    await service.deleteArtifact(HOME)
    equal(await service.loadArtifact(HOME), undefined)
    equal(await service.loadArtifact({ ...HOME, version: 0 }), undefined)
    deepEqual(await service.listVersions(HOME), [])
    deepEqual(await service.listArtifactVersions(HOME), [])
    deepEqual(await service.listArtifactKeys(HOME), ['other.txt'])
    equal(await save(service, HOME, 'anew'), 0)
    deepEqual(await service.loadArtifact(other), { text: 'kept' })
  })

  serviceTest('concurrent saves get different versions', async (service) => {
    const versions = await Promise.all(Array.from({ length: 20 }, (_, n) => save(service, HOME, `text ${n}`)))
    deepEqual(
      versions.toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, n) => n),
    )
    for (const [n, version] of versions.entries()) {
      deepEqual(await service.loadArtifact({ ...HOME, version }), { text: `text ${n}` })
    }
  })

  serviceTest('changing an artifact object after saving or loading does not change the stored one', async (service) => {
    const artifact = { inlineData: { mimeType: 'text/plain', data: 'AA==' } }
    const customMetadata = { tags: ['a'] }
    await service.saveArtifact({ ...HOME, artifact, customMetadata })
    artifact.inlineData.data = 'spoiled'
    customMetadata.tags.push('spoiled')
    const loaded = (await service.loadArtifact(HOME)) as typeof artifact
    loaded.inlineData.data = 'spoiled'
    const version = await service.getArtifactVersion(HOME)
    if (version?.customMetadata) version.customMetadata.tags = 'spoiled'
    const [listed] = (await service.listArtifactVersions(HOME)) as { version: number }[]
    if (listed) listed.version = 99
    deepEqual(await service.loadArtifact(HOME), { inlineData: { mimeType: 'text/plain', data: 'AA==' } })
    const stored = await service.getArtifactVersion(HOME)
    deepEqual([stored?.version, stored?.customMetadata], [0, { tags: ['a'] }])
  })

  serviceTest('another user, app or session can neither see nor delete a file', async (service) => {
    await save(service, HOME, 'mine')
    await save(service, { ...HOME, filename: 'user:me.png' }, 'mine')
    const others = [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
      { ...HOME, sessionId: 's2' },
      { ...HOME, userId: 'bob', filename: 'user:me.png' },
      { ...HOME, appName: 'bank', filename: 'user:me.png' },
    ]
    for (const other of others) {
      for (const version of [undefined, 0]) {
        equal(await service.loadArtifact({ ...other, version }), undefined)
        equal(await service.getArtifactVersion({ ...other, version }), undefined)
      }
      deepEqual(await service.listVersions(other), [])
      deepEqual(await service.listArtifactVersions(other), [])
      const seen = await service.listArtifactKeys(other)
      deepEqual(seen, other.sessionId === 's2' ? ['user:me.png'] : [])
      await service.deleteArtifact(other)
    }
    deepEqual(await service.loadArtifact(HOME), { text: 'mine' })
    deepEqual(await service.loadArtifact({ ...HOME, filename: 'user:me.png' }), { text: 'mine' })
  })

  serviceTest('deleting a session or a user deletes its files, and no others', async (service) => {
    const user = { ...HOME, filename: 'user:me.png' }
    const others = [
      { ...HOME, userId: 'bob' },
      { ...HOME, appName: 'bank' },
      { ...HOME, userId: 'ada","s1' },
      { ...user, userId: 'bob' },
    ]
    for (const key of [HOME, { ...HOME, sessionId: 's2' }, user, ...others]) await save(service, key, 'text')
    if (!service.deleteSession || !service.deleteUser) return
    await service.deleteSession(HOME)
    deepEqual(await service.listArtifactKeys(HOME), ['user:me.png'])
    deepEqual(await service.listArtifactKeys({ ...HOME, sessionId: 's2' }), ['bill.txt', 'user:me.png'])
    await service.deleteUser(HOME)
    await service.deleteUser(HOME)
    for (const sessionId of ['s1', 's2']) deepEqual(await service.listArtifactKeys({ ...HOME, sessionId }), [])
    for (const key of others) deepEqual(await service.loadArtifact(key), { text: 'text' })
  })

  serviceTest('hostile ids and filenames are stored separately or rejected with INVALID_REQUEST', async (service) => {
    const keys = [
      ...HOSTILE_IDS.map((appName) => ({ ...HOME, appName })),
      ...HOSTILE_IDS.map((userId) => ({ ...HOME, userId })),
      ...HOSTILE_IDS.map((sessionId) => ({ ...HOME, sessionId })),
      ...HOSTILE_IDS.map((filename) => ({ ...HOME, filename })),
      ...HOSTILE_IDS.map((id) => ({ ...HOME, filename: `user:${id}` })),
      ...SPLIT_PAIRS.map(([userId, sessionId]) => ({ ...HOME, userId, sessionId })),
      ...SPLIT_PAIRS.map(([sessionId, filename]) => ({ ...HOME, sessionId, filename })),
    ]
    const accepted: ArtifactKey[] = []
    for (const [index, key] of keys.entries()) {
      equal(await loadIfValid(service, key), undefined, `before the save: ${JSON.stringify(key)}`)
      try {
        equal(await save(service, key, `file ${index}`), 0)
        accepted[index] = key
      } catch (error) {
        if (codeOf(error) !== 'INVALID_REQUEST') throw error
      }
    }
    ok(Object.keys(accepted).length > keys.length / 2, 'the service must accept most hostile names')
    for (const [index, key] of accepted.entries()) {
      if (key) deepEqual(await service.loadArtifact(key), { text: `file ${index}` })
    }
  })

  serviceTest('pages of names and versions are the whole lists', async (service) => {
    for (const name of ['b', 'a', 'user:c', '\u{1F600}', '\uFFFD', 'd"\\']) {
      await save(service, { ...HOME, filename: name }, name)
      await save(service, { ...HOME, filename: 'versions' }, name)
    }
    const names: string[] = []
    for (let after: string | undefined; service.listArtifactPage; ) {
      const page = await service.listArtifactPage({ ...HOME, limit: 2, after })
      ok(page.items.length <= 2, 'a page has at most `limit` names')
      names.push(...page.items)
      if (page.next === undefined) break
      after = page.next
    }
    if (service.listArtifactPage) deepEqual(names.sort(), await service.listArtifactKeys(HOME))
    const key = { ...HOME, filename: 'versions' }
    const first = await service.listVersionPage?.({ ...key, limit: 4 })
    const second = await service.listVersionPage?.({ ...key, limit: 4, after: first?.next })
    if (!first || !second) return
    equal(first.items.length, 4)
    deepEqual([...first.items, ...second.items], await service.listArtifactVersions(key))
    equal(second.next, undefined)
  })
}

function save(service: ArtifactService, key: ArtifactKey, text: string): Promise<number> {
  return service.saveArtifact({ ...key, artifact: { text } })
}

async function loadIfValid(service: ArtifactService, key: ArtifactKey): Promise<unknown> {
  try {
    return await service.loadArtifact(key)
  } catch (error) {
    if (codeOf(error) === 'INVALID_REQUEST') return undefined
    throw error
  }
}

import { describe, expect, test } from 'vitest'
import { artifactServiceSuite } from '../../adapters/testing/suites/artifact-service-suite.ts'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import type { Part } from '../../core/content/content.ts'
import { InMemoryArtifactService } from '../../services/artifact/in-memory.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

artifactServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.artifactService, close: () => services.close() }
})

describe.each<[string, () => ArtifactService]>([
  ['sqlite()', () => sqlite(':memory:').artifactService],
  ['InMemoryArtifactService', () => new InMemoryArtifactService()],
])('%s', (_name, open) => {
  test.each([
    null,
    undefined,
    5,
    'text',
    ['text'],
    {},
    { text: 5 },
    { bogus: 1 },
    { inlineData: 5 },
    { inlineData: {} },
    { fileData: {} },
  ])('rejects %j as an artifact and keeps the last version', async (value) => {
    const service = open()
    const key = { ...HOME, filename: 'a.txt' }
    await service.saveArtifact({ ...key, artifact: { text: 'first' } })
    const saved = service.saveArtifact({ ...key, artifact: value as unknown as Part })
    await expect(saved).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('An artifact must be a part'),
    })
    expect(await service.loadArtifact(key)).toEqual({ text: 'first' })
    expect(await service.saveArtifact({ ...key, artifact: { text: 'second' } })).toBe(1)
  })

  test.each(['', '.', '..', 'user:', 'user:..', 'x'.repeat(1001)])(
    'rejects %j as the name of a new artifact, which no address could name',
    async (filename) => {
      const service = open()
      const saved = service.saveArtifact({ ...HOME, filename, artifact: { text: 'x' } })
      await expect(saved).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringMatching(/^filename/),
      })
      expect(await service.listArtifactKeys(HOME)).toEqual([])
      await service.deleteArtifact({ ...HOME, filename }) // one of an earlier version can be removed
    },
  )

  test.each(['a', '...', 'a/../b', '.env', 'user:a', 'Ärger 👩‍🚀.png'])(
    'saves and loads an empty file called %j',
    async (filename) => {
      const service = open()
      const key = { ...HOME, filename }
      await service.saveArtifact({ ...key, artifact: { inlineData: { mimeType: 'text/plain', data: '' } } })
      expect(await service.loadArtifact(key)).toEqual({ inlineData: { mimeType: 'text/plain', data: '' } })
    },
  )

  test.each([null, undefined, 5, {}])('rejects %j as a filename', async (value) => {
    const service = open()
    const key = { ...HOME, filename: value as unknown as string }
    const refused = { code: 'INVALID_REQUEST', message: expect.stringContaining('filename must be a string, got ') }
    await expect(service.saveArtifact({ ...key, artifact: { text: 'x' } })).rejects.toMatchObject(refused)
    await expect(service.loadArtifact(key)).rejects.toMatchObject(refused)
  })
})

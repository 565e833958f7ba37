import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { temporaryFolder } from '../sqlite/temporary-file.test-kit.ts'
import { files } from './files.ts'

const key = { ...HOME, filename: 'bill.txt' }
const PLACE = ['shop', 'ada', 'sessions', 's1', 'bill.txt', '0']

describe.skipIf(process.platform === 'win32')('a link inside of the folder', () => {
  test.each(PLACE.map((name, at) => [name, at] as const))('%s is not followed', async (_name, at) => {
    const folder = temporaryFolder()
    const outside = join(temporaryFolder(), 'outside')
    const service = files(folder).artifactService
    await service.saveArtifact({ ...key, artifact: { text: 'of somebody else' } })
    const place = join(folder, ...PLACE.slice(0, at + 1))
    renameSync(place, outside)
    symlinkSync(outside, place)
    const shown = await Promise.allSettled([service.loadArtifact(key), service.loadArtifact({ ...key, version: 0 })])
    expect(JSON.stringify(shown)).not.toContain('of somebody else')
    const listed = await service.listArtifactKeys(key).catch(() => [])
    expect(listed).toEqual([])
    await service.saveArtifact({ ...key, artifact: { text: 'new' } }).catch(() => {})
    await service.deleteArtifact(key).catch(() => {})
    await service.deleteSession?.(key).catch(() => {})
    await service.deleteUser?.(key).catch(() => {})
    const kept = join(outside, ...PLACE.slice(at + 1))
    expect(existsSync(join(kept, 'part.json'))).toBe(true)
    expect(existsSync(join(kept, '..', '1'))).toBe(false)
  })

  test('as a file of a version is not followed', async () => {
    const folder = temporaryFolder()
    const service = files(folder).artifactService
    await service.saveArtifact({ ...key, artifact: { text: 'mine' } })
    const part = join(folder, ...PLACE, 'part.json')
    renameSync(part, join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), part)
    await expect(service.loadArtifact(key)).rejects.toThrow('it is a link')
  })

  test('is an error that names it', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'shop'))
    const outside = temporaryFolder()
    symlinkSync(outside, join(folder, 'shop', 'ada'))
    const saved = files(folder).artifactService.saveArtifact({ ...key, artifact: { text: 'x' } })
    await expect(saved).rejects.toMatchObject({ code: 'STORAGE', message: expect.stringContaining('follows no links') })
  })
})

test.skipIf(process.platform === 'win32')('the folder itself may be a link', async () => {
  const link = join(temporaryFolder(), 'link')
  symlinkSync(temporaryFolder(), link)
  const service = files(link).artifactService
  await service.saveArtifact({ ...key, artifact: { text: 'mine' } })
  expect(await service.loadArtifact(key)).toEqual({ text: 'mine' })
})

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { artifactServiceSuite } from '../../adapters/testing/suites/artifact-service-suite.ts'
import { HOSTILE_IDS } from '../../adapters/testing/suites/hostile-ids.ts'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { temporaryFolder } from '../sqlite/temporary-file.test-kit.ts'
import { files } from './files.ts'

artifactServiceSuite(test, ({ now }) => files(temporaryFolder(), { now }).artifactService)

const key = { ...HOME, filename: 'bill.txt' }
const png = { inlineData: { mimeType: 'image/png', data: Buffer.from('a picture').toString('base64') } }

/** The paths of all files and folders in a folder. */
function pathsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}

test('any program can open the bytes of an artifact', async () => {
  const folder = temporaryFolder()
  const service = files(folder).artifactService
  await service.saveArtifact({ ...key, filename: 'photo.png', artifact: png })
  const [content] = pathsIn(folder).filter((path) => path.endsWith(join('photo.png', '0', 'content')))
  expect(readFileSync(join(folder, content ?? ''), 'utf8')).toBe('a picture')
  expect(await service.loadArtifact({ ...key, filename: 'photo.png' })).toEqual(png)
})

test('hostile names write nothing outside of the folder, and each gets its own back', async () => {
  const outer = temporaryFolder()
  const service = files(join(outer, 'artifacts')).artifactService
  const names = [...HOSTILE_IDS, '../../escape', '/etc/escape', 'C:\\escape', '%2e%2e%2fescape', '..\\escape', 'con']
  for (const [n, name] of names.entries()) {
    for (const where of [{ filename: name }, { sessionId: name }, { userId: name }, { appName: name }])
      await service.saveArtifact({ ...key, ...where, artifact: { text: `${n}` } })
  }
  expect(readdirSync(outer)).toEqual(['artifacts'])
  for (const path of pathsIn(outer)) expect(path).toMatch(/^[a-z0-9_.=/\\-]+$/)
  for (const [n, filename] of names.entries())
    expect(await service.loadArtifact({ ...key, filename })).toEqual({ text: `${n}` })
  expect(await service.listArtifactKeys(key)).toEqual([...new Set(names)].sort())
})

test('only the owner can read the files', { skip: process.platform === 'win32' }, async () => {
  const folder = join(temporaryFolder(), 'artifacts')
  const before = process.umask(0)
  onTestFinished(() => void process.umask(before))
  await files(folder).artifactService.saveArtifact({ ...key, artifact: png })
  for (const path of ['', ...pathsIn(folder)])
    expect([path, statSync(join(folder, path)).mode & 0o077]).toEqual([path, 0])
})

test('a version whose files are damaged is reported with its place, and the rest loads', async () => {
  const folder = temporaryFolder()
  const reports: string[] = []
  const logger = { warn: (message: string) => void reports.push(message), error: () => {} }
  const service = files(folder, { logger }).artifactService
  for (const text of ['first', 'second', 'third']) await service.saveArtifact({ ...key, artifact: { text } })
  const place = join(folder, 'shop', 'ada', 'sessions', 's1', 'bill.txt')
  const { writeFileSync, rmSync } = await import('node:fs')
  writeFileSync(join(place, '1', 'version.json'), '{"filename":')
  rmSync(join(place, '2', 'part.json'))
  const versions = await service.listArtifactVersions(key)
  expect(versions.map(({ version }) => version)).toEqual([0, 2])
  expect(reports).toEqual([expect.stringContaining(join(place, '1'))])
  expect(await service.loadArtifact({ ...key, version: 0 })).toEqual({ text: 'first' })
  await expect(service.getArtifactVersion({ ...key, version: 1 })).rejects.toMatchObject({ code: 'STORAGE' })
  await expect(service.loadArtifact(key)).rejects.toMatchObject({
    code: 'STORAGE',
    message: expect.stringContaining(`${join(place, '2')}" is damaged (part.json is missing)`),
  })
  expect(await service.listArtifactKeys(key)).toEqual(['bill.txt'])
  expect(await service.saveArtifact({ ...key, artifact: { text: 'fourth' } })).toBe(3)
})

test('content that is missing is damage, not an empty file', async () => {
  const folder = temporaryFolder()
  const service = files(folder).artifactService
  await service.saveArtifact({ ...key, artifact: png })
  const { rmSync } = await import('node:fs')
  rmSync(join(folder, 'shop', 'ada', 'sessions', 's1', 'bill.txt', '0', 'content'))
  await expect(service.loadArtifact(key)).rejects.toThrow('content is missing')
})

test('deleting a session or a user leaves no file of it, and those of others stay', async () => {
  const folder = temporaryFolder()
  const service = files(folder).artifactService
  const saved = [
    { ...key, text: 'canary-one' },
    { ...key, filename: 'user:me', text: 'canary-two' },
    { ...key, sessionId: 's2', text: 'canary-three' },
    { ...key, userId: 'bob', text: 'kept' },
  ]
  for (const { text, ...where } of saved) await service.saveArtifact({ ...where, artifact: { text } })
  const bytes = (): string =>
    pathsIn(folder)
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => readFileSync(join(folder, path), 'utf8'))
      .join()
  await service.deleteSession?.(key)
  expect([bytes().includes('canary-one'), bytes().includes('canary-two')]).toEqual([false, true])
  expect(await service.listArtifactKeys(key)).toEqual(['user:me'])
  await service.deleteUser?.(HOME)
  await service.deleteUser?.(HOME)
  expect(bytes()).not.toContain('canary')
  expect(existsSync(join(folder, 'shop', 'ada'))).toBe(false)
  expect(await service.loadArtifact({ ...key, userId: 'bob' })).toEqual({ text: 'kept' })
})

test('saves and deletions at the same time leave whole versions only', async () => {
  const service = files(temporaryFolder()).artifactService
  const work = Array.from({ length: 40 }, (_, n) =>
    n % 4 === 3 ? service.deleteArtifact(key) : service.saveArtifact({ ...key, artifact: { text: `${n}` } }),
  )
  await Promise.all(work)
  const versions = await service.listVersions(key)
  expect(versions).toEqual(versions.map((_, n) => n))
  for (const version of versions) expect(await service.loadArtifact({ ...key, version })).toHaveProperty('text')
})

describe('the options of files()', () => {
  test.each([
    ['', 'a path that is blank'],
    [5, 'got 5'],
    ['a\0b', 'contains NUL'],
    [new URL('https://example.com/x'), 'requires the path of a folder'],
  ])('the folder %j is refused', (folder, message) => {
    expect(() => files(folder as string)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    expect(() => files(folder as string)).toThrow(message)
  })

  test('a file instead of a folder, and a misspelled option, are refused', () => {
    const folder = temporaryFolder()
    expect(() => files(new URL(import.meta.url))).toThrow('cannot be used for artifacts')
    expect(() => files(folder, { clock: vi.fn() } as never)).toThrow('clock')
  })
})

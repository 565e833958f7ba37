import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { temporaryFolder } from '../sqlite/temporary-file.test-kit.ts'
import { storageError } from './file-error.ts'
import { files } from './files.ts'
import { runProgram, startProgram } from './program.test-kit.ts'

const key = { ...HOME, filename: 'log.bin' }
const KEY = JSON.stringify(key)

test('saves of several processes get different versions, without gaps', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder()
  const save = (name: string): string =>
    `for (let n = 0; n < 15; n++) await service.saveArtifact({ ...${KEY}, artifact: { text: '${name}' + n } })`
  expect(await Promise.all(['a', 'b', 'c'].map((name) => runProgram(folder, save(name))))).toEqual(['', '', ''])
  const service = files(folder).artifactService
  const versions = await service.listVersions(key)
  expect(versions).toEqual(Array.from({ length: 45 }, (_, n) => n))
  const texts = await Promise.all(versions.map((version) => service.loadArtifact({ ...key, version })))
  expect(new Set(texts.map((part) => part?.text)).size).toBe(45)
})

test('a process that is killed while it saves leaves whole versions, and what it began is removed', {
  timeout: 60_000,
}, async () => {
  const folder = temporaryFolder()
  const data = Buffer.alloc(300_000, 'x').toString('base64')
  const child = startProgram(
    folder,
    `const artifact = { inlineData: { mimeType: 'image/png', data: Buffer.alloc(300_000, 'x').toString('base64') } }
     for (;;) console.log(await service.saveArtifact({ ...${KEY}, artifact }))`,
  )
  let acknowledged = -1
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (printed) => {
      acknowledged = Number(String(printed).trim().split('\n').at(-1))
      if (acknowledged >= 3) resolve()
    })
  })
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  // as after a crash in the middle of a save: the longest ago, and just now
  for (const [name, hoursAgo] of [
    ['new-stale', 2],
    ['new-recent', 0],
    ['old-removed', 0],
  ] as const) {
    const path = join(folder, '.tmp', name)
    mkdirSync(path)
    writeFileSync(join(path, 'part.json'), '{"text":"half"}')
    const time = Date.now() / 1000 - hoursAgo * 3600
    utimesSync(path, time, time)
  }
  const service = files(folder).artifactService
  const versions = await service.listVersions(key)
  expect(versions.length).toBeGreaterThan(acknowledged)
  for (const version of versions) expect((await service.loadArtifact({ ...key, version }))?.inlineData?.data).toBe(data)
  expect(await service.saveArtifact({ ...key, artifact: { text: 'next' } })).toBe(versions.length)
  const left = readdirSync(join(folder, '.tmp'))
  expect(left).toContain('new-recent') // another process may be writing it
  expect(left).not.toContain('new-stale')
  expect(left).not.toContain('old-removed')
})

describe('a disk that takes no more', () => {
  test.skipIf(process.platform === 'win32')('fails the save, and nothing of it stays', async () => {
    const folder = temporaryFolder()
    const large = `{ inlineData: { mimeType: 'a/b', data: Buffer.alloc(500_000, 'x').toString('base64') } }`
    const said = await runProgram(
      folder,
      `await service.saveArtifact({ ...${KEY}, artifact: { text: 'small' } })
       await service.saveArtifact({ ...${KEY}, artifact: ${large} })`,
      100, // blocks of 512 bytes, for each file
    )
    expect(said).toMatch(/^STORAGE The folder .* (?:Raise the limit|Free disk space); nothing was saved\.$/)
    const service = files(folder).artifactService
    expect(await service.listVersions(key)).toEqual([0])
    expect(await service.loadArtifact(key)).toEqual({ text: 'small' })
    expect(readdirSync(join(folder, '.tmp'))).toEqual([])
  })

  test.each([
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk is full'],
    ['EROFS', 'is read-only'],
    ['EMFILE', 'too many files'],
    ['EIO', 'Check its disk'],
  ])('%s is a STORAGE error with advice', (code, advice) => {
    const error = storageError(Object.assign(new Error(`${code}: failed`), { code }), '/artifacts')
    expect(error).toMatchObject({ code: 'STORAGE', message: expect.stringContaining(advice) })
  })
})

test('a file where a folder should be is an error that says so', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'shop'), 'not ours')
  const saved = files(folder).artifactService.saveArtifact({ ...key, artifact: { text: 'x' } })
  await expect(saved).rejects.toMatchObject({ code: 'STORAGE', message: expect.stringContaining('a folder should be') })
  expect(readFileSync(join(folder, 'shop'), 'utf8')).toBe('not ours')
})

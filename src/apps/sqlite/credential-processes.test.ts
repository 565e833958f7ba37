import { expect, test, vi } from 'vitest'
import type { StoredCredential } from '../../services/credential/service.ts'
import { startProcess } from './other-process.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

vi.setConfig({ testTimeout: 60_000 }) // processes start slowly on a busy machine

const HOME = { appName: 'shop', userId: 'ada', key: 'mail' }
const apiKey = (secret: string): { authType: string; apiKey: string } => ({ authType: 'apiKey', apiKey: secret })

test('exactly one of several processes saves a generation of a credential, 50 times', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  let generation = await services.credentialService.save({ ...HOME, credential: apiKey('first') })
  const others = await Promise.all(Array.from({ length: 3 }, () => startProcess(file)))
  for (let round = 0; round < 50; round++) {
    const expectedGeneration = generation
    const saves = await Promise.allSettled(
      others.map((other, writer) => {
        const credential = apiKey(`${round} ${writer}`)
        return other.do<number>('credential', 'save', { ...HOME, credential, expectedGeneration })
      }),
    )
    const winners = saves.flatMap((save, writer) => (save.status === 'fulfilled' ? [{ writer, ...save }] : []))
    const losers = saves.flatMap((save) => (save.status === 'rejected' ? [save.reason.code] : []))
    expect([winners.length, losers]).toEqual([1, ['STALE_APPEND', 'STALE_APPEND']])
    generation = winners[0]?.value ?? 0
    expect(generation).toBeGreaterThan(expectedGeneration)
    const stored = { credential: apiKey(`${round} ${winners[0]?.writer}`), generation }
    expect(await services.credentialService.load(HOME)).toEqual(stored)
    expect(await others[round % 3]?.do<StoredCredential>('credential', 'load', HOME)).toEqual(stored)
  }
})

test('a process cannot delete the credential that another process has saved after it loaded', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  const generation = await services.credentialService.save({ ...HOME, credential: apiKey('old') })
  const other = await startProcess(file)
  await other.do('credential', 'save', { ...HOME, credential: apiKey('new'), expectedGeneration: generation })
  expect(await services.credentialService.delete({ ...HOME, expectedGeneration: generation })).toBe(false)
  expect((await services.credentialService.load(HOME))?.credential).toEqual(apiKey('new'))
})

test('saving a credential waits for another process that holds the write lock, and loading does not', async () => {
  const file = temporaryFile()
  using services = sqlite(file)
  await services.credentialService.save({ ...HOME, credential: apiKey('old') })
  const other = await startProcess(file)
  await other.do('lock', file)
  let isSaved = false
  const save = services.credentialService.save({ ...HOME, credential: apiKey('new') }).then(() => {
    isSaved = true
  })
  for (let read = 0; read < 20; read++) {
    expect((await services.credentialService.load(HOME))?.credential).toEqual(apiKey('old'))
  }
  expect(isSaved).toBe(false)
  await other.do('unlock')
  await save
  expect((await services.credentialService.load(HOME))?.credential).toEqual(apiKey('new'))
})

test('a credential is not saved when the file stays locked for busyTimeoutMs, and the error shows no secret', async () => {
  const file = temporaryFile()
  using services = sqlite(file, { busyTimeoutMs: 50 })
  await services.credentialService.save({ ...HOME, credential: apiKey('old') })
  const other = await startProcess(file)
  await other.do('lock', file)
  const error: unknown = await services.credentialService
    .save({ ...HOME, credential: apiKey('sk-secret') })
    .catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'STORAGE', message: expect.stringContaining('is locked by another process') })
  expect(String(error)).not.toContain('sk-secret')
  await other.do('unlock')
  expect((await services.credentialService.load(HOME))?.credential).toEqual(apiKey('old'))
})

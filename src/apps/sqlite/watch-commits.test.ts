import { expect, onTestFinished, test } from 'vitest'
import type { SessionKey } from '../../services/session/service.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }

test('watch() reports an item that another process posts, until it is stopped', async () => {
  const file = temporaryFile()
  const [watching, other] = [sqlite(file), sqlite(file)]
  onTestFinished(() => {
    watching.close()
    other.close()
  })
  await other.sessionService.createSession(key)
  const heard: SessionKey[] = []
  const stop = watching.sessionService.watch?.((one) => void heard.push(one))
  await other.sessionService.post(key, { id: 'one', type: 'cancel' })
  await expect.poll(() => heard).toEqual([key])
  await other.sessionService.post(key, { id: 'two', type: 'cancel' })
  await expect.poll(() => heard).toEqual([key, key])
  stop?.()
  await watching.sessionService.post(key, { id: 'three', type: 'cancel' })
  expect(heard).toHaveLength(2)
})

test('watch() reports changes of its own process at once', async () => {
  const { sessionService } = sqlite(':memory:')
  await sessionService.createSession(key)
  const heard: SessionKey[] = []
  const stop = sessionService.watch?.((one) => void heard.push(one))
  onTestFinished(() => stop?.())
  await sessionService.post(key, { id: 'one', type: 'cancel' })
  await expect.poll(() => heard).toContainEqual(key)
})

test('a file that is closed while it is watched is no error', async () => {
  const services = sqlite(temporaryFile())
  const stop = services.sessionService.watch?.(() => {})
  services.close()
  stop?.()
  expect(stop).toBeDefined()
})

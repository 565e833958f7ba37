import { expect, test } from 'vitest'
import { sqlite } from '../../apps/sqlite/sqlite.ts'
import { MAX_REMEMBERED_IDS } from '../session/inbox-limits.ts'

test('the SQLite inbox remembers the ids of the latest drained items and never drops an undrained item', async () => {
  using services = sqlite(':memory:')
  const { sessionService } = services
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  const waiting = async () => (await sessionService.inbox(lease)).map(({ id }) => id)
  await sessionService.post(key, { id: 'waits', type: 'cancel' })
  for (let n = 0; n <= MAX_REMEMBERED_IDS; n++) {
    await sessionService.post(key, { id: `i${n}`, type: 'cancel' })
    if (n % 100 === 0) await sessionService.append(lease, 0, [], { drained: await notWaiting() })
  }
  await sessionService.append(lease, 0, [], { drained: await notWaiting() })
  await sessionService.post(key, { id: `i${MAX_REMEMBERED_IDS}`, type: 'cancel' })
  await sessionService.post(key, { id: 'waits', type: 'cancel' })
  expect(await waiting()).toEqual(['waits'])
  await sessionService.post(key, { id: 'i0', type: 'cancel' }) // drained too long ago to be remembered
  expect(await waiting()).toEqual(['waits', 'i0'])

  async function notWaiting(): Promise<string[]> {
    return (await waiting()).filter((id) => id !== 'waits')
  }
})

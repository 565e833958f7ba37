import { InMemorySessionService, LlmAgent, Runner } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { Apps } from '../apps.ts'
import { createServer } from '../create-server.ts'
import { startServer } from '../edge.test-kit.ts'
import { Pruning } from './pruning.ts'

const DAY = 86_400_000

function openShop() {
  const clock = { time: 1_700_000_000_000 }
  const now = (): number => clock.time
  const sessionService = new InMemorySessionService({ now })
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel([]) })
  const runner = new Runner({ appName: 'shop', agent, sessionService, ports: { now } })
  onTestFinished(() => runner.close())
  const left = async () => (await sessionService.listSessions({ appName: 'shop', userId: 'ada' })).map(({ id }) => id)
  const create = (sessionId: string) => sessionService.createSession({ appName: 'shop', userId: 'ada', sessionId })
  return { clock, runner, sessionService, left, create }
}

test('a server deletes sessions that have not changed for long', async () => {
  const { clock, runner, left, create } = openShop()
  await create('old')
  clock.time += 31 * DAY
  await create('new')
  await startServer({ apps: { shop: runner }, recover: { everyMs: 10, prune: { olderThan: 30 * DAY } } })
  await expect.poll(left).toEqual(['new'])
})

test('retention comes once an hour, and goes on after an error of the store', async () => {
  const { clock, runner, sessionService, left, create } = openShop()
  const errors: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void errors.push(message) }
  const parts = { apps: new Apps({ apps: { shop: runner } }), logger }
  const timers: { readonly ms: number; readonly fire: () => void }[] = []
  const setTimer = (fire: () => void, ms: number): (() => void) => {
    timers.push({ ms, fire })
    return () => {}
  }
  const pruning = new Pruning(parts, { maxSessionsPerUser: 1 }, { setTimer })
  for (const id of ['s1', 's2']) await create(id)
  clock.time++
  const find = sessionService.findPrunable
  sessionService.findPrunable = () => Promise.reject(new Error('The disk is gone.'))
  pruning.start()
  timers[0]?.fire()
  await expect.poll(() => timers.length).toBe(2)
  sessionService.findPrunable = find
  expect(errors).toEqual(['The sessions of app "shop" were not pruned: The disk is gone.'])
  expect(await left()).toEqual(['s1', 's2'])
  timers[1]?.fire()
  await expect.poll(left).toEqual(['s2'])
  await expect.poll(() => timers.map(({ ms }) => ms)).toEqual([1_000, 3_600_000, 3_600_000])
  pruning.close()
  timers[2]?.fire()
  await create('s3')
  expect(await left()).toEqual(['s2', 's3'])
})

test.each([
  [{}, 'recover.prune needs olderThan'],
  [{ olderThan: '30d' }, 'olderThan must be a whole number'],
  [{ olderThen: 5 }, 'olderThen'],
])('refuses the retention %j', (prune, message) => {
  const { runner } = openShop()
  const recover = { prune } as { prune: { olderThan: number } }
  expect(() => createServer({ apps: { shop: runner }, recover })).toThrow(message)
})

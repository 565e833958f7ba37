// A client opens the stream of a long session, or asks about an edit in it, while no run of this process writes it.
import { LlmAgent, Runner, type SessionService, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import type { LogPage } from 'toolwright/store'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'

const EVENTS = 40
const user = { userId: 'ada', sessionId: 's1' }
const key = { appName: 'shop', ...user }

/** A session of 12 MB, and how many entries were read from it, in which pieces. */
async function longSession(): Promise<{ runner: Runner; pieces: LogPage[] }> {
  const services = sqlite(':memory:')
  onTestFinished(() => services.close())
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    id: `e${n}`,
    invocationId: 'i1',
    author: n === 0 ? 'user' : 'clerk',
    timestamp: n,
    actions: {},
    content: { role: n === 0 ? 'user' : 'model', parts: [{ text: `${n}`.padEnd(300_000, 'x') }] },
  }))
  await services.sessionService.createSession({ ...key, events: events as never })
  const pieces: LogPage[] = []
  const sessionService = new Proxy(services.sessionService, {
    get: (target: SessionService, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        const result: unknown = await value.apply(target, args)
        if (name === 'readLog') pieces.push(result as LogPage)
        return result
      }
    },
  })
  const pay = tool({
    name: 'pay',
    description: 'Pay',
    requiresConfirmation: true,
    allowEditedArgs: true,
    run: () => ({ paid: true }),
  })
  const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'clerk', model, tools: [pay] })
  return { runner: new Runner({ ...services, appName: 'shop', agent, sessionService }), pieces }
}

test('other requests are served while a client opens the stream of a long session', async () => {
  const { runner, pieces } = await longSession()
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  for await (const event of runner.follow(user)) expect(event).toBeUndefined() // nothing is new
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
  expect(Math.max(...pieces.map(({ entries }) => entries.length))).toBeLessThan(6)
})

test('a client that reads the stream of a long session slowly does not make the server hold it', async () => {
  const { runner, pieces } = await longSession()
  const stream = runner.follow({ ...user, afterEventId: 'e0' })[Symbol.asyncIterator]()
  expect((await stream.next()).value).toMatchObject({ id: 'e1' })
  const opened = pieces.length
  await new Promise((resolve) => setTimeout(resolve, 0)) // a reader that does not wait for the client goes on here
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(pieces.length).toBe(opened)
  const ids: string[] = []
  for (let next = await stream.next(); !next.done; next = await stream.next()) ids.push(next.value.id)
  expect(ids).toEqual(Array.from({ length: EVENTS - 2 }, (_, n) => `e${n + 2}`))
})

test('a stream that its client leaves reads nothing more', async () => {
  const { runner, pieces } = await longSession()
  for await (const { id } of runner.follow({ ...user, afterEventId: 'e0' })) {
    expect(id).toBe('e1')
    break
  }
  const left = pieces.length
  await new Promise((resolve) => setTimeout(resolve, 0))
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(pieces.length).toBe(left)
})

test('other requests are served while an edit is previewed in a long session', async () => {
  const { runner, pieces } = await longSession()
  const { pending } = await runner.complete({ ...user, message: 'Pay' })
  pieces.length = 0
  const requestId = pending[0]?.id ?? ''
  expect(await runner.previewApproval({ ...user, requestId, args: {} })).toMatchObject({ args: {} })
  expect(pieces.length).toBeGreaterThan(5)
  expect(Math.max(...pieces.map(({ entries }) => entries.length))).toBeLessThan(20)
})

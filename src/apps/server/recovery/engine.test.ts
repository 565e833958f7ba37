import { InMemorySessionService, LlmAgent, Runner } from 'toolwright'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'

interface Opened {
  readonly runner: Runner
  readonly sessions: InMemorySessionService
  /** The sessions that the engine was told of. */
  readonly woken: string[]
}

function open(appName: string, hasEngine: boolean): Opened {
  const sessions = new InMemorySessionService()
  const woken: string[] = []
  const engine = { wake: async ({ sessionId }: { readonly sessionId: string }) => void woken.push(sessionId) }
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Hello.', 'Hello again.']) })
  const runner = new Runner({ appName, agent, sessionService: sessions, ...(hasEngine && { engine }) })
  return { runner, sessions, woken }
}

/** Leaves a stored message in an interrupted session. */
async function interrupt({ runner, sessions }: Opened): Promise<void> {
  await runner.submit({ userId: 'ada', sessionId: 's1', message: 'Hi.' })
  const key = { appName: runner.appName, userId: 'ada', sessionId: 's1' }
  await sessions.release(await sessions.claim(key), { interrupted: true })
}

async function eventsOf({ runner, sessions }: Opened, sessionId: string): Promise<number | undefined> {
  return (await sessions.getSession({ appName: runner.appName, userId: 'ada', sessionId }))?.events.length
}

test('a server leaves the sessions of a runner with an engine to its workers, and continues those of the other one', async () => {
  const [fleet, alone] = [open('fleet', true), open('alone', false)]
  await Promise.all([interrupt(fleet), interrupt(alone)])
  const server = createServer({ apps: { fleet: fleet.runner, alone: alone.runner }, limits: { drainMs: 100 } })
  onTestFinished(() => server.close())
  await server.listen({ port: 0 })
  expect(Object.fromEntries(await server.recover())).toEqual({ fleet: 0, alone: 1 })
  await expect.poll(() => eventsOf(alone, 's1')).toBe(2)
  // the worker of the server starts a second after it listens, for all apps together
  for (const { runner } of [fleet, alone]) await runner.submit({ userId: 'ada', sessionId: 's2', message: 'Hi.' })
  await expect.poll(() => eventsOf(alone, 's2'), { timeout: 10_000 }).toBe(2)
  expect([await eventsOf(fleet, 's1'), await eventsOf(fleet, 's2')]).toEqual([0, 0])
  expect(fleet.woken).toEqual(['s1', 's2'])
}, 20_000)

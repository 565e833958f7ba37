import { InMemorySessionService, LlmAgent, type Model, Runner, type SessionService, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { Apps } from '../apps.ts'
import { SignedSessions } from '../bench/signed-sessions.ts'
import { createServer } from '../create-server.ts'
import { silent, slowAgent, startServer } from '../edge.test-kit.ts'
import { Metrics } from '../health/metrics.ts'
import { DEFAULT_LIMITS, type RecoverySweepOptions } from '../server-options.ts'
import { ServerWork } from './server-work.ts'

/** A runner whose run of session `sessionId` calls a tool that lasts until it is released. */
async function startRun(sessionService: SessionService, sessionId = 's1') {
  const slow = slowAgent()
  const runner = new Runner({ appName: 'slow', agent: slow.agent, sessionService, logger: silent })
  onTestFinished(() => runner.close())
  await sessionService.createSession({ appName: 'slow', userId: 'ada', sessionId })
  const ended = runner.complete({ userId: 'ada', sessionId, message: 'Hi' }).catch(() => {})
  await slow.started
  return { runner, ended, slow }
}

/** A runner of another process, whose tool ends at once. */
function otherRunner(sessionService: SessionService, agentName = 'slow'): Runner {
  const again = slowAgent()
  again.release()
  const agent = new LlmAgent({ name: agentName, model: scriptedModel(Array(9).fill('Done.')), tools: [again.tool] })
  return new Runner({ appName: 'slow', agent, sessionService, logger: silent })
}

const eventsOf = async (sessions: SessionService, sessionId = 's1'): Promise<string> =>
  JSON.stringify(await sessions.getSession({ appName: 'slow', userId: 'ada', sessionId }))

/** The work of a server that looks for it when the test says so. */
function createWork(runner: Runner, options?: RecoverySweepOptions, concurrentRuns = 100) {
  const parts = {
    apps: new Apps({ apps: { slow: runner } }),
    metrics: new Metrics(),
    limits: { ...DEFAULT_LIMITS, concurrentRuns },
    logger: silent,
  }
  const work = new ServerWork(parts, options)
  onTestFinished(async () => {
    work.close()
    await runner.close()
  })
  return async () => (await work.recover()).get('slow')
}

test('a server continues the run of another process that stopped while the server was listening', async () => {
  const sessions = new InMemorySessionService()
  const server = await startServer({ apps: { slow: otherRunner(sessions) }, recover: { everyMs: 20 } })
  const { runner, ended } = await startRun(sessions)
  await runner.close({ interrupt: true })
  await ended
  await expect.poll(() => eventsOf(sessions)).toContain('Done.')
  const metrics = await fetch(`${server.url}/metrics`, { headers: server.headers })
  expect(await metrics.text()).toContain('toolwright_recovered_runs_total 1')
})

test('a server leaves alone what another process or the server itself runs, and calls of the tool bench', async () => {
  let now = 0
  const sessions = new InMemorySessionService({ monotonicNow: () => now })
  const held = await startRun(sessions)
  const look = createWork(held.runner)
  const benchId = await new SignedSessions('bench', { appName: 'slow', sessionService: sessions }).newSessionId(
    'slow',
    'ada',
  )
  const bench = await startRun(sessions, benchId)
  await bench.runner.close({ interrupt: true })
  expect(await look()).toBe(0)
  now += 60_000 // the process was suspended: its lease has ended, and its run renews it
  expect(await look()).toBe(0)
  held.slow.release()
  await held.ended
  expect(held.slow.outcomes).toEqual(['finished'])
  expect(await eventsOf(sessions)).toContain('Done.')

  const other = await startRun(sessions, 's2')
  expect(await createWork(otherRunner(sessions))()).toBe(0)
  expect(other.slow.outcomes).toEqual([])
  other.slow.release()
  await other.ended
  expect(other.slow.outcomes).toEqual(['finished'])
  expect(bench.slow.outcomes).toEqual(['aborted'])
})

test('a server removes calls of the tool bench that died with their process, and continues sessions of users with such ids', async () => {
  const sessions = new InMemorySessionService()
  const benches = new SignedSessions('bench', { appName: 'slow', sessionService: sessions })
  const own = await benches.newSessionId('slow', 'ada')
  const ofBob = await benches.newSessionId('slow', 'bob') // ada cannot use the id of another user
  const similar = `bench-slow-${'a'.repeat(26)}`
  const forged = `${similar}-${'0'.repeat(32)}`
  const interrupted = [own, ofBob, similar, forged]
  for (const id of interrupted) {
    const run = await startRun(sessions, id)
    await run.runner.close({ interrupt: true })
    await run.ended
  }
  const waiting = await benches.newSessionId('slow', 'ada') // no process runs it: it may wait for an approval
  await sessions.createSession({ appName: 'slow', userId: 'ada', sessionId: waiting })
  const underWay = await startRun(sessions, await benches.newSessionId('slow', 'ada'))
  for (const name of ['first', 'second']) {
    const server = await startServer({ apps: { slow: otherRunner(sessions) }, dev: name === 'first' })
    expect([name, await server.server.recover()]).toEqual([name, new Map([['slow', name === 'first' ? 3 : 0]])])
    for (const id of [ofBob, similar, forged]) await expect.poll(() => eventsOf(sessions, id)).toContain('Done.')
    const list = await fetch(`${server.url}/apps/slow/users/ada/sessions`, { headers: server.headers })
    const ids = ((await list.json()) as { id: string }[]).map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining([ofBob, similar, forged]))
    expect(ids).not.toContain(own)
  }
  expect(await eventsOf(sessions, own)).toBe(undefined)
  expect(await eventsOf(sessions, waiting)).toContain(waiting)
  expect(underWay.slow.outcomes).toEqual([])
})

test('a server that starts continues as many runs as its limit allows, and the others later', async () => {
  const sessions = new InMemorySessionService()
  for (const id of ['s1', 's2', 's3', 's4', 's5']) {
    const { runner, ended } = await startRun(sessions, id)
    await runner.close({ interrupt: true })
    await ended
  }
  let underWay = 0
  let most = 0
  const gates: (() => void)[] = []
  const model: Model = {
    name: 'waiting',
    async *generate() {
      most = Math.max(most, ++underWay)
      await new Promise<void>((resolve) => gates.push(resolve))
      underWay--
      yield { content: { role: 'model', parts: [{ text: 'Done.' }] } }
    },
  }
  const again = slowAgent()
  again.release()
  const agent = new LlmAgent({ name: 'slow', model, tools: [again.tool] })
  const runner = new Runner({ appName: 'slow', agent, sessionService: sessions, logger: silent })
  const { server } = await startServer({
    apps: { slow: runner },
    limits: { concurrentRuns: 2 },
    recover: { everyMs: 20 },
  })
  expect(await server.recover()).toEqual(new Map([['slow', 2]]))
  expect(await server.recover()).toEqual(new Map([['slow', 0]]))
  await expect.poll(() => gates.length).toBe(2)
  const isDone = async (): Promise<boolean> => {
    gates.shift()?.()
    const all = await Promise.all(['s1', 's2', 's3', 's4', 's5'].map((id) => eventsOf(sessions, id)))
    return all.every((text) => text.includes('Done.'))
  }
  await expect.poll(isDone, { timeout: 20_000 }).toBe(true)
  expect(most).toBe(2)
})

test('a session that stays interrupted is tried less and less often', async () => {
  const sessions = new InMemorySessionService()
  const { runner, ended } = await startRun(sessions)
  await runner.close({ interrupt: true })
  await ended
  let seconds = 0
  const tries: number[] = []
  const agent = slowAgent().agent
  const ports = { monotonicNow: () => seconds * 1_000 }
  const failing = new Runner({ appName: 'slow', agent, sessionService: sessions, logger: silent, ports })
  const runContext = (): never => {
    tries.push(seconds)
    throw new Error('no context')
  }
  const look = createWork(failing, { runContext })
  for (; seconds < 60; seconds++) expect(await look()).toBe(0)
  expect(tries).toEqual([0, 1, 3, 7, 15, 31])
})

test('after a crash with many runs, few are continued at the same time, until all are', async () => {
  const sessions = new InMemorySessionService()
  const ids = ['s1', 's2', 's3', 's4', 's5']
  for (const id of ids) {
    const { runner, ended } = await startRun(sessions, id)
    await runner.close({ interrupt: true })
    await ended
  }
  const gate = Promise.withResolvers<void>()
  let atOnce = 0
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    effect: 'none',
    run: async () => {
      atOnce++
      await gate.promise
      return { ok: true }
    },
  })
  const agent = new LlmAgent({ name: 'slow', model: scriptedModel(ids.map(() => 'Done.')), tools: [wait] })
  const runner = new Runner({ appName: 'slow', agent, sessionService: sessions, logger: silent })
  const look = createWork(runner, {}, 2)
  expect(await look()).toBe(2)
  await expect.poll(() => atOnce).toBe(2)
  expect(await look()).toBe(0)
  expect(atOnce).toBe(2)
  gate.resolve()
  await expect
    .poll(async () => {
      await look()
      return (await Promise.all(ids.map((id) => eventsOf(sessions, id)))).every((events) => events.includes('Done.'))
    })
    .toBe(true)
})

test('a server goes on after an error of the store', async () => {
  const sessions = new InMemorySessionService()
  const { interrupted } = sessions
  sessions.interrupted = () => Promise.reject(new Error('The disk is gone.'))
  const errors: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void errors.push(message) }
  const again = slowAgent()
  again.release()
  const agent = new LlmAgent({ name: 'slow', model: scriptedModel(['Done.']), tools: [again.tool] })
  const runner = new Runner({ appName: 'slow', agent, sessionService: sessions, logger })
  const { server } = await startServer({ apps: { slow: runner }, recover: { everyMs: 20 } })
  expect(await server.recover()).toEqual(new Map([['slow', 0]]))
  expect(errors).toEqual(['The worker cannot look for work, and tries again: The disk is gone.'])
  sessions.interrupted = interrupted
  const lost = await startRun(sessions)
  await lost.runner.close({ interrupt: true })
  await lost.ended
  await expect.poll(() => eventsOf(sessions), { timeout: 10_000 }).toContain('Done.')
})

test('refuses options of `recover` that are wrong', () => {
  const apps = { slow: otherRunner(new InMemorySessionService()) }
  expect(() => createServer({ apps, recover: { everyMs: 0 } })).toThrow('everyMs must be a whole number >= 1')
  expect(() => createServer({ apps, recover: true as never })).toThrow('recover must be false or an object')
})

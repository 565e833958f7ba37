import { InMemorySessionService, LlmAgent, Runner, type SessionService, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { approve } from '../approvals/answer-parts.ts'

function logger() {
  const errors: string[] = []
  return { errors, warn: () => {}, error: (message: string) => void errors.push(message) }
}

/** A runner whose tool notes each charge. `gate`: what the tool waits for. */
function shop(
  sessionService: SessionService,
  { gate, log = logger() }: { gate?: Promise<void>; log?: ReturnType<typeof logger> } = {},
) {
  const charged: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    requiresConfirmation: true,
    run: async (_, { invocation }) => {
      charged.push(`${invocation.userId}/${invocation.session.id}`)
      await gate
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' && !contents.at(-1)?.parts.some((part) => part.functionResponse)
      ? { calls: [{ name: 'charge', args: {} }] }
      : 'Done.',
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [charge] })
  const runner = new Runner({ appName: 'shop', agent, sessionService, logger: log })
  onTestFinished(() => runner.close())
  return { runner, charged, errors: log.errors }
}

/** Starts a worker that ends with the test. */
function work(runner: Runner, options: Partial<Parameters<Runner['work']>[0]> = {}) {
  const stop = new AbortController()
  const ended = runner.work({ signal: stop.signal, pollMs: 20, ...options })
  const end = async (): Promise<void> => {
    stop.abort()
    await ended
  }
  onTestFinished(end)
  return { end }
}

/** Sessions with an approved call that no process continues. */
async function approved(
  runner: Runner,
  sessions: readonly (readonly [userId: string, sessionId: string])[],
): Promise<void> {
  for (const [userId, sessionId] of sessions) {
    const { pending } = await runner.complete({ userId, sessionId, message: 'Charge.' })
    await runner.answer({ userId, sessionId, message: pending.map((request) => approve(request)) })
  }
}

test('a worker continues answered sessions, as many at the same time as it may, and users take turns', async () => {
  const sessions = new InMemorySessionService()
  const front = shop(sessions)
  const many = Array.from({ length: 6 }, (_, at) => ['ada', `a${at}`] as const)
  await approved(front.runner, [...many, ['bob', 'b1'], ['cyd', 'c1']])
  const gate = Promise.withResolvers<void>()
  const back = shop(sessions, { gate: gate.promise })
  work(back.runner, { concurrency: 3 })
  await expect.poll(() => back.charged.length).toBe(3)
  expect(back.charged.map((key) => key.split('/')[0]).sort()).toEqual(['ada', 'bob', 'cyd'])
  gate.resolve()
  await expect.poll(() => back.charged.length).toBe(8)
  expect(new Set(back.charged).size).toBe(8)
  expect(front.charged).toEqual([])
})

test('several workers run each session once', async () => {
  const sessions = new InMemorySessionService()
  const front = shop(sessions)
  await approved(
    front.runner,
    Array.from({ length: 20 }, (_, at) => ['ada', `s${at}`] as const),
  )
  const workers = [shop(sessions), shop(sessions), shop(sessions)]
  for (const { runner } of workers) work(runner)
  await expect.poll(() => workers.flatMap(({ charged }) => charged).length).toBe(20)
  await expect.poll(() => sessions.interrupted({ appName: 'shop' })).toEqual([])
  expect(new Set(workers.flatMap(({ charged }) => charged)).size).toBe(20)
})

test('a session that fails is reported once, and does not stop the others', async () => {
  const sessions = new InMemorySessionService()
  const front = shop(sessions)
  await approved(front.runner, [
    ['ada', 'bad'],
    ['ada', 'good'],
    ['bob', 'b1'],
  ])
  const back = shop(sessions)
  const tried: string[] = []
  const runContext = ({ sessionId }: { sessionId: string }) => {
    tried.push(sessionId)
    if (sessionId === 'bad') throw new Error('The tenant is unknown.')
    return {}
  }
  work(back.runner, { runContext })
  await expect.poll(() => back.charged.sort()).toEqual(['ada/good', 'bob/b1'])
  await expect.poll(() => tried.filter((id) => id === 'bad').length, { timeout: 10_000 }).toBe(2)
  expect(back.errors).toHaveLength(1)
  expect(back.errors[0]).toContain('session "bad"')
  expect(back.errors[0]).toContain('The tenant is unknown.')
})

test('`where` leaves sessions to other workers', async () => {
  const sessions = new InMemorySessionService()
  await approved(shop(sessions).runner, [
    ['ada', 's1'],
    ['bob', 's1'],
  ])
  const back = shop(sessions)
  work(back.runner, { where: ({ userId }) => userId === 'bob' })
  await expect.poll(() => back.charged).toEqual(['bob/s1'])
  expect(await sessions.interrupted({ appName: 'shop' })).toEqual([{ appName: 'shop', userId: 'ada', sessionId: 's1' }])
})

test('a worker finds its sessions behind many that are for other workers', async () => {
  const sessions = new InMemorySessionService()
  const front = shop(sessions)
  await approved(front.runner, [...Array.from({ length: 1_001 }, (_, at) => ['ada', `a${at}`] as const), ['bob', 'b1']])
  const back = shop(sessions)
  work(back.runner, { where: ({ userId }) => userId === 'bob' })
  await expect.poll(() => back.charged).toEqual(['bob/b1'])
})

test('a worker that ends waits for its runs, and leaves the rest interrupted for another worker', async () => {
  const sessions = new InMemorySessionService()
  await approved(shop(sessions).runner, [['ada', 's1']])
  const never = Promise.withResolvers<void>()
  const first = shop(sessions, { gate: never.promise })
  const stopped = work(first.runner, { graceMs: 0 })
  await expect.poll(() => first.charged.length).toBe(1)
  await stopped.end()
  expect(await sessions.interrupted({ appName: 'shop' })).toHaveLength(1)

  const gate = Promise.withResolvers<void>()
  const second = shop(sessions)
  const reads = sessions.read.bind(sessions)
  let isRead = false
  sessions.read = (lease) => {
    isRead = true
    return gate.promise.then(() => reads(lease))
  }
  const graceful = work(second.runner, { graceMs: 60_000 })
  await expect.poll(() => isRead).toBe(true)
  gate.resolve()
  await expect.poll(() => sessions.interrupted({ appName: 'shop' })).toEqual([])
  await graceful.end()
  expect(second.errors).toEqual([])
})

test('a run sees at once what another process posts, and a worker continues what was posted to a paused session', async () => {
  const sessions = new InMemorySessionService()
  const { runner } = shop(sessions)
  const { pending } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Charge.' })
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  const back = shop(sessions)
  work(back.runner, { pollMs: 60_000 })
  const content = { role: 'user' as const, parts: pending.map((request) => approve(request)) }
  await sessions.post(key, { id: 'i1', type: 'answer', content })
  await expect.poll(() => back.charged).toEqual(['ada/s1'])
  expect(await sessions.withInbox({ appName: 'shop', limit: 9 })).toEqual([])
})

test('a posted state change starts no run of a paused session', async () => {
  const sessions = new InMemorySessionService()
  const { runner } = shop(sessions)
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Charge.' })
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  await sessions.post(key, { id: 'i1', type: 'state', stateDelta: { color: 'red' } })
  const back = shop(sessions)
  work(back.runner)
  await expect.poll(async () => (await sessions.getSession(key))?.state).toEqual({ color: 'red' })
  expect(await runner.pending()).toHaveLength(1)
})

test('a store that fails does not end the worker, and is reported once', async () => {
  const sessions = new InMemorySessionService()
  await approved(shop(sessions).runner, [['ada', 's1']])
  const interrupted = sessions.interrupted.bind(sessions)
  let failures = 0
  sessions.interrupted = (filter) =>
    ++failures > 3 ? interrupted(filter) : Promise.reject(new Error('The disk is gone.'))
  const back = shop(sessions)
  work(back.runner)
  await expect.poll(() => back.charged).toEqual(['ada/s1'])
  expect(back.errors).toEqual(['The worker cannot look for work, and tries again: The disk is gone.'])
})

test.each([
  ['does not read the list of pending requests', true, 0],
  ['reads the list of pending requests once if its store cannot search for expired ones', false, 3],
])('an idle worker %s', async (_title, canSearch, pages) => {
  const sessions: SessionService = new InMemorySessionService()
  if (!canSearch) Object.assign(sessions, { overdue: undefined })
  const { runner } = shop(sessions)
  for (let at = 0; at < 300; at++) await runner.complete({ userId: `u${at}`, sessionId: 's1', message: 'Charge.' })
  let reads = 0
  let looks = 0
  const { pendingPage, interrupted } = sessions
  sessions.pendingPage = (filter) => {
    reads++
    return pendingPage?.call(sessions, filter) as never
  }
  sessions.interrupted = (filter) => {
    looks++
    return interrupted.call(sessions, filter)
  }
  work(runner, { pollMs: 10 })
  await expect.poll(() => looks).toBeGreaterThan(5)
  expect(reads).toBe(pages)
})

test('refuses options of work() that are wrong', async () => {
  const { runner } = shop(new InMemorySessionService())
  const signal = new AbortController().signal
  await expect(runner.work({ signal, concurrency: 0 })).rejects.toThrow('concurrency must be a whole number >= 1')
  await expect(runner.work({} as never)).rejects.toThrow('signal')
  await expect(runner.work({ signal: AbortSignal.abort() })).resolves.toBe(undefined)
})

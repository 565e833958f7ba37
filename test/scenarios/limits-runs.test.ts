// limits of a runner: how many runs and waiting messages there may be over all processes with the same store.
import { approve, LlmAgent, Runner, type RunnerOptions, ToolwrightError, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'
import { createDeferred, silentLogger } from './kit.ts'

/** An agent whose runs last until the test ends them. The tool of a session with `ask` in its id needs an approval. */
function desk() {
  const ends = new Map<string, () => void>()
  const started: string[] = []
  const work = tool({
    name: 'work',
    description: 'Works',
    effect: 'none',
    timeoutMs: 60_000,
    requiresConfirmation: (_, { invocation }) => invocation.session.id.includes('ask'),
    run: async (_, { invocation }) => {
      const { promise, resolve } = createDeferred<void>()
      ends.set(invocation.session.id, () => {
        ends.delete(invocation.session.id)
        resolve()
      })
      started.push(invocation.session.id)
      await promise
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.parts.some((part) => part.functionResponse) ? 'Done.' : { calls: [{ name: 'work', args: {} }] },
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [work] })
  const startProcess = (services: Partial<RunnerOptions>): Runner => {
    const runner = new Runner({ appName: 'shop', agent, logger: silentLogger, ...services })
    onTestFinished(async () => {
      for (const end of ends.values()) end()
      await runner.close()
    })
    return runner
  }
  return { startProcess, started, running: () => [...ends.keys()], end: (id: string) => ends.get(id)?.() }
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ToolwrightError)) throw new Error('The call was not refused.', { cause: error })
  const { code, status, retryAfterMs } = error
  return { code, status, retryAfterMs }
}

const REFUSED = { code: 'RATE_LIMITED', status: 429, retryAfterMs: 1_000 }

function startWorker(runner: Runner): void {
  const stop = new AbortController()
  const ended = runner.work({ signal: stop.signal, pollMs: 20, graceMs: 0 })
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
}

describe.each(stores)('with limits $name', ({ open }) => {
  test('a run over the limit of its user is refused in every process, and leaves no session', async () => {
    const { sessionService, limitService } = open()
    const { startProcess, started, end } = desk()
    const options = { sessionService, limitService, limits: { runs: { perUser: 1 } } }
    const [one, two] = [startProcess(options), startProcess(options)]
    const first = one.complete({ userId: 'ada', sessionId: 's1', message: 'Go.' })
    await expect.poll(() => started).toEqual(['s1'])
    expect(await refusal(two.complete({ userId: 'ada', sessionId: 's2', message: 'Go.' }))).toEqual(REFUSED)
    expect(await refusal(two.complete({ userId: 'ada', message: 'Go.' }))).toEqual(REFUSED)
    const other = two.complete({ userId: 'bob', sessionId: 's3', message: 'Go.' })
    await expect.poll(() => started).toEqual(['s1', 's3'])
    const sessions = await sessionService.listSessions({ appName: 'shop', userId: 'ada' })
    expect(sessions.map(({ id }) => id)).toEqual(['s1'])
    end('s1')
    await first
    const next = two.complete({ userId: 'ada', sessionId: 's2', message: 'Go.' })
    await expect.poll(() => started).toEqual(['s1', 's3', 's2'])
    end('s2')
    end('s3')
    await Promise.all([next, other])
  })

  test('a full app refuses runs, and a user without runs comes before one that has some', async () => {
    const { sessionService, limitService } = open()
    const { startProcess, started, end } = desk()
    const options = { sessionService, limitService, limits: { runs: { perApp: 2 } } }
    const [one, two] = [startProcess(options), startProcess(options)]
    const runs = ['a1', 'a2'].map((sessionId) => one.complete({ userId: 'ada', sessionId, message: 'Go.' }))
    await expect.poll(() => started).toHaveLength(2)
    const ask = (userId: string, sessionId: string) => two.complete({ userId, sessionId, message: 'Go.' })
    expect(await refusal(ask('ada', 'a3'))).toEqual(REFUSED)
    expect(await refusal(ask('bob', 'b1'))).toEqual(REFUSED)
    end('a1')
    await runs[0]
    expect(await refusal(ask('ada', 'a3'))).toEqual(REFUSED) // bob asked later, and has no run
    const turn = ask('bob', 'b1')
    await expect.poll(() => started.toSorted()).toEqual(['a1', 'a2', 'b1'])
    end('a2')
    end('b1')
    await Promise.all([...runs, turn])
  })

  test('a paused run takes no slot, and its answer needs one', async () => {
    const { sessionService, limitService } = open()
    const { startProcess, started, end } = desk()
    const runner = startProcess({ sessionService, limitService, limits: { runs: { perUser: 1 } } })
    const ada = { userId: 'ada', sessionId: 'ask' }
    const { pending } = await runner.complete({ ...ada, message: 'Go.' })
    const answer = { ...ada, message: pending.map((request) => approve(request)) }
    const busy = runner.complete({ userId: 'ada', sessionId: 's1', message: 'Go.' })
    await expect.poll(() => started).toEqual(['s1'])
    expect(await refusal(runner.complete(answer))).toEqual(REFUSED)
    expect(await runner.pending(ada)).toHaveLength(1)
    end('s1')
    await busy
    const answered = runner.complete(answer)
    await expect.poll(() => started).toEqual(['s1', 'ask'])
    end('ask')
    expect((await answered).text).toBe('Done.')
  })

  test('workers leave sessions over the limit for later, and no user waits for all sessions of another one', async () => {
    const { sessionService, limitService } = open()
    const { startProcess, started, running, end } = desk()
    const options = { sessionService, limitService, limits: { runs: { perApp: 2 } } }
    const front = startProcess(options)
    for (let at = 0; at < 12; at++) await front.submit({ userId: 'ada', sessionId: `a${at}`, message: 'Go.' })
    startWorker(startProcess(options))
    startWorker(startProcess(options))
    await expect.poll(() => started).toHaveLength(2)
    await front.submit({ userId: 'bob', sessionId: 'b1', message: 'Go.' })
    for (let ended = 1; ended <= 13; ended++) {
      expect(running().length).toBeLessThanOrEqual(2)
      await expect.poll(() => running().length, { timeout: 20_000 }).toBeGreaterThan(0)
      const [first] = running()
      end(first ?? '')
      await expect.poll(() => started.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(Math.min(ended + 2, 13))
    }
    expect(new Set(started).size).toBe(13)
    expect(started.indexOf('b1')).toBeLessThanOrEqual(5)
    const crashed = await sessionService.interrupted({ appName: 'shop' })
    expect(crashed).toEqual([])
  }, 90_000)

  test('submit() refuses messages over the limit, and takes one again that it has stored', async () => {
    const { sessionService, limitService } = open()
    const { startProcess, started, end } = desk()
    const options = { sessionService, limitService, limits: { waiting: { perUser: 2, perApp: 3 } } }
    const [one, two] = [startProcess(options), startProcess(options)]
    await one.submit({ userId: 'ada', sessionId: 's1', message: 'Go.', id: 'm1' })
    await two.submit({ userId: 'ada', sessionId: 's2', message: 'Go.' })
    expect(await refusal(two.submit({ userId: 'ada', message: 'Go.' }))).toEqual(REFUSED)
    await one.submit({ userId: 'ada', sessionId: 's1', message: 'Go.', id: 'm1' })
    await one.submit({ userId: 'bob', sessionId: 's3', message: 'Go.' })
    expect(await refusal(one.submit({ userId: 'cyd', message: 'Go.' }))).toEqual(REFUSED)
    expect(await sessionService.listSessions({ appName: 'shop', userId: 'cyd' })).toEqual([])
    await startProcess({ ...options, appName: 'bank' }).submit({ userId: 'ada', message: 'Go.' })
    startWorker(one)
    await expect.poll(() => started).toHaveLength(3)
    for (const id of started) end(id)
    await one.submit({ userId: 'cyd', message: 'Go.' })
  })
})

test('a user with the longest id has a limit, too', async () => {
  const { startProcess, started, end } = desk()
  const runner = startProcess({ limits: { runs: { perUser: 1 } } })
  const userId = 'u'.repeat(1_000)
  const first = runner.complete({ userId, sessionId: 's1', message: 'Go.' })
  await expect.poll(() => started).toEqual(['s1'])
  expect(await refusal(runner.complete({ userId, message: 'Go.' }))).toEqual(REFUSED)
  end('s1')
  await first
})

test('limits that make no sense are refused', () => {
  const { startProcess } = desk()
  const broken: [unknown, RegExp][] = [
    [{ runs: { perApp: 0 } }, /limits.runs: perApp must be a whole number >= 1/],
    [{ runs: { perUser: 1.5 } }, /limits.runs: perUser must be a whole number >= 1/],
    [{ runs: { perUser: Number.POSITIVE_INFINITY } }, /perUser must be a whole number/],
    [{ runs: 5 }, /runs must be an object/],
    [{ runs: { perSession: 1 } }, /unknown option "perSession"/],
    [{ waiting: { perApp: '10' } }, /limits.waiting: perApp/],
    [{ run: { perApp: 1 } }, /Did you mean "runs"/],
  ]
  for (const [limits, problem] of broken) expect(() => startProcess({ limits: limits as never })).toThrow(problem)
  const { sessionService } = stores[0]?.open() ?? {}
  const older = new Proxy(sessionService as object, {
    get: (target, name) => (name === 'withInbox' ? undefined : Reflect.get(target, name)),
  })
  const unaware = { sessionService: older as never, limits: { waiting: { perApp: 1 } } }
  expect(() => startProcess(unaware)).toThrow(/limits.waiting needs a session service/)
})

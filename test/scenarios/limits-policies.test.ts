// concurrency() and rateLimit() with `shared`: several runners on one store are several processes.
import {
  concurrency,
  InMemoryLimitService,
  type LimitService,
  LlmAgent,
  Runner,
  type RunnerOptions,
  rateLimit,
  type Tool,
  ToolwrightError,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stores } from '../stores.ts'
import { createDeferred, silentLogger } from './kit.ts'

/** The bodies that run: each ends when the test says so. */
class Bodies {
  readonly started: string[] = []
  most = 0
  readonly #running = new Map<string, () => void>()

  readonly tool: Tool = tool({
    name: 'work',
    description: 'Works',
    effect: 'none',
    timeoutMs: 60_000,
    run: async (_, { invocation, signal }) => {
      const id = invocation.session.id
      this.started.push(id)
      const { promise, resolve } = createDeferred<void>()
      this.#running.set(id, resolve)
      this.most = Math.max(this.most, this.#running.size)
      await Promise.race([promise, new Promise((done) => signal.addEventListener('abort', done, { once: true }))])
      this.#running.delete(id)
      return { ok: true }
    },
  })

  end(id: string): void {
    this.#running.get(id)?.()
  }

  endAll(): void {
    for (const end of this.#running.values()) end()
  }
}

function processOf(work: Tool, services: Partial<RunnerOptions>): Runner {
  const model = scriptedModel(({ contents }) =>
    contents.some(({ parts }) => parts.some(({ functionResponse }) => functionResponse))
      ? 'Done.'
      : { calls: [{ name: 'work', args: {} }] },
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [work] })
  const runner = new Runner({ appName: 'shop', agent, logger: silentLogger, ...services })
  onTestFinished(() => runner.close())
  return runner
}

/** Starts a run whose only call is limited. The session is `<user>-<at>`. */
function start(runner: Runner, userId: string, at = 0, signal?: AbortSignal): Promise<string> {
  const run = runner.complete({ userId, sessionId: `${userId}-${at}`, message: 'Go.', signal })
  return run.then(({ events }) => {
    const responses = events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    )
    return JSON.stringify(responses[0]?.response)
  })
}

describe.each(stores)('with limits $name', ({ open }) => {
  test('concurrency() with shared runs at most max calls at once over all processes', async () => {
    const { sessionService, limitService } = open()
    const bodies = new Bodies()
    const work = concurrency(bodies.tool, { max: 2, shared: true })
    const runners = [1, 2, 3].map(() => processOf(work, { sessionService, limitService }))
    const runs = runners.flatMap((runner, at) => [0, 1].map((call) => start(runner, `u${at}`, call)))
    await expect.poll(() => bodies.started).toHaveLength(2)
    const timer = setInterval(() => bodies.endAll(), 10)
    onTestFinished(() => clearInterval(timer))
    expect(await Promise.all(runs)).toEqual(Array(6).fill('{"ok":true}'))
    expect(bodies.most).toBe(2)
  })

  test('a user with one call does not wait for all calls of a user of another process', async () => {
    const { sessionService, limitService } = open()
    const bodies = new Bodies()
    const work = concurrency(bodies.tool, { max: 1, shared: true })
    const [busy, other] = [0, 1].map(() => processOf(work, { sessionService, limitService })) as [Runner, Runner]
    const runs = Array.from({ length: 5 }, (_, at) => start(busy, 'ada', at))
    await expect.poll(() => bodies.started).toHaveLength(1)
    runs.push(start(other, 'bob'))
    const placesOf = placesIn(limitService)
    await expect.poll(() => placesOf('bob')).toBe(true)
    for (let at = 0; at < 6; at++) {
      await expect.poll(() => bodies.started, { timeout: 20_000 }).toHaveLength(at + 1)
      bodies.endAll()
    }
    await Promise.all(runs)
    const turnOfBob = bodies.started.indexOf('bob-0')
    expect(turnOfBob).toBeGreaterThan(0)
    expect(turnOfBob).toBeLessThanOrEqual(2)
    expect(bodies.most).toBe(1)
  }, 60_000)

  test('a cancelled call leaves the line, and the next one runs', async () => {
    const { sessionService, limitService } = open()
    const bodies = new Bodies()
    const runner = processOf(concurrency(bodies.tool, { max: 1, shared: true }), { sessionService, limitService })
    const first = start(runner, 'ada')
    await expect.poll(() => bodies.started).toEqual(['ada-0'])
    const cancelled = new AbortController()
    const placesOf = placesIn(limitService)
    const second = start(runner, 'bob', 0, cancelled.signal)
    await expect.poll(() => placesOf('bob')).toBe(true)
    const third = start(runner, 'cyd')
    cancelled.abort()
    await second
    bodies.end('ada-0')
    await first
    await expect.poll(() => bodies.started, { timeout: 20_000 }).toEqual(['ada-0', 'cyd-0'])
    bodies.endAll()
    await third
  })

  test('rateLimit() with shared starts at most max calls in any period over all processes', async () => {
    const { sessionService, limitService } = open()
    const starts: number[] = []
    const stamp = tool({
      name: 'work',
      description: 'Works',
      effect: 'none',
      run: () => starts.push(performance.now()),
    })
    const work = rateLimit(stamp, { max: 2, perMs: 600, shared: true })
    const runners = [0, 1].map(() => processOf(work, { sessionService, limitService }))
    const began = performance.now()
    await Promise.all(runners.flatMap((runner, at) => [0, 1, 2].map((call) => start(runner, `u${at}`, call))))
    // a body starts a little after its start was counted
    const since = starts.map((time) => time - began).sort((one, other) => one - other)
    expect(since).toHaveLength(6)
    expect(since[2]).toBeGreaterThanOrEqual(600)
    expect(since[4]).toBeGreaterThanOrEqual(1_200)
  })

  test('each key and each app has slots of its own', async () => {
    const { sessionService, limitService } = open()
    const bodies = new Bodies()
    const perUser = concurrency(bodies.tool, { max: 1, shared: true, key: ({ context }) => context.invocation.userId })
    const runner = processOf(perUser, { sessionService, limitService })
    const other = processOf(perUser, { sessionService, limitService, appName: 'bank' })
    const runs = [start(runner, 'ada'), start(runner, 'bob'), start(other, 'ada', 1)]
    await expect.poll(() => bodies.started.toSorted()).toEqual(['ada-0', 'ada-1', 'bob-0'])
    bodies.endAll()
    await Promise.all(runs)
  })
})

/** Says whether a call of a user has a place in line. */
function placesIn(limitService: LimitService): (userId: string) => Promise<boolean> {
  const tickets = new Set<string>()
  const { take } = limitService
  limitService.take = async (request) => {
    const answer = await take.call(limitService, request)
    if (answer.type === 'full') tickets.add(request.userId)
    return answer
  }
  return async (userId) => tickets.has(userId)
}

/** A store whose server is away. */
function awayService(): LimitService {
  const service = new InMemoryLimitService()
  return Object.assign(service, {
    take: () => Promise.reject(new ToolwrightError('STORAGE', 'The database "shop" is away.')),
  })
}

test.each([
  ['concurrency()', (work: Tool) => concurrency(work, { max: 5, shared: true })],
  ['rateLimit()', (work: Tool) => rateLimit(work, { max: 5, perMs: 1_000, shared: true })],
])('%s with shared does not run the body while the store is away, and says why', async (_, limit) => {
  const bodies = new Bodies()
  const problems: string[] = []
  const logger = { warn: (problem: string) => void problems.push(problem), error: () => {} }
  const runner = processOf(limit(bodies.tool), { limitService: awayService(), logger })
  expect(JSON.parse(await start(runner, 'ada'))).toEqual({
    error: 'The limit of tool "work" could not be checked, so the call did not run. Try again later.',
    errorCode: 'EXECUTION_FAILED',
  })
  expect(bodies.started).toEqual([])
  expect(problems.join()).toContain('The database "shop" is away.')
})

test('a limit without shared asks no store', async () => {
  const work = tool({ name: 'work', description: 'Works', effect: 'none', run: () => ({ ok: true }) })
  const limited = rateLimit(concurrency(work, { max: 1 }), { max: 5, perMs: 1_000 })
  expect(await start(processOf(limited, { limitService: awayService() }), 'ada')).toBe('{"ok":true}')
})

test('a key that no store can index is an error of the call', async () => {
  const bodies = new Bodies()
  const limited = concurrency(bodies.tool, { max: 1, shared: true, key: () => 'k'.repeat(501) })
  expect(await start(processOf(limited, {}), 'ada')).toContain('key must return at most 500 characters')
  expect(bodies.started).toEqual([])
})

test('a call with two shared limits of one kind does not wait for the slot that it has itself', async () => {
  const bodies = new Bodies()
  const narrow = concurrency(bodies.tool, { max: 2, shared: true })
  const runner = processOf(concurrency(narrow, { max: 2, shared: true }), {})
  const runs = ['ada', 'bob', 'eve'].map((user) => start(runner, user))
  await expect.poll(() => bodies.started.length).toBe(2)
  bodies.endAll()
  await expect.poll(() => bodies.started.length).toBe(3)
  bodies.endAll()
  expect(await Promise.all(runs)).toEqual(Array(3).fill('{"ok":true}'))
  expect(bodies.most).toBe(2)
})

test('two shared rates of one tool both hold', async () => {
  const starts: number[] = []
  const stamp = tool({ name: 'work', description: 'Works', effect: 'none', run: () => starts.push(performance.now()) })
  const perMoment = rateLimit(stamp, { max: 1, perMs: 100, shared: true })
  const runner = processOf(rateLimit(perMoment, { max: 3, perMs: 600_000, shared: true }), {})
  const began = performance.now()
  await Promise.all(['ada', 'bob', 'eve'].map((user) => start(runner, user)))
  const since = starts.map((time) => time - began)
  expect(since).toHaveLength(3)
  expect(since[1]).toBeGreaterThanOrEqual(99)
  expect(since[2]).toBeGreaterThanOrEqual(199)
})

test.each([
  [400, '{"ok":true}'],
  [500, 'key must return a shorter text. appName, name must have at most 2600 bytes together'],
])('a key counts by the bytes of its JSON: %d control characters', async (length, answer) => {
  const stamp = tool({ name: 'work', description: 'Works', effect: 'none', run: () => ({ ok: true }) })
  const limited = concurrency(stamp, { max: 1, shared: true, key: () => '\u0001'.repeat(length) })
  expect(await start(processOf(limited, {}), 'ada')).toContain(answer)
})

test('shared that is not true or false is refused', () => {
  const { tool: work } = new Bodies()
  expect(() => concurrency(work, { max: 1, shared: 'yes' as never })).toThrow(/shared must be true or false/)
  expect(() => rateLimit(work, { max: 1, perMs: 1, shared: 1 as never })).toThrow(/shared must be true or false/)
  expect(() => concurrency(work, { max: 0, shared: true })).toThrow(/max/)
  const broken = { limitService: {} as never }
  expect(() => processOf(work, broken)).toThrow(/limitService must be an object with "take"/)
})

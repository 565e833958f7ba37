import {
  InMemorySessionService,
  InMemoryWorkerService,
  LlmAgent,
  Runner,
  type RunnerOptions,
  type SeenWorker,
  tool,
  type WorkerService,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const filter = { appName: 'shop', limit: 10 }

/** Timers of ten seconds, the time between two reports, take 20 ms. */
const ports = {
  setTimer: (callback: () => void, ms: number): (() => void) => {
    const timer = setTimeout(callback, ms === 10_000 ? 20 : ms)
    return () => clearTimeout(timer)
  },
}

function pay(run: () => unknown, description = 'Pays.') {
  return tool({ name: 'pay', description, parameters: z.object({}), effect: 'none', run })
}

function shop(
  options: Partial<RunnerOptions> & { readonly tools?: readonly ReturnType<typeof pay>[]; readonly text?: string },
): Runner {
  const { tools = [], text = 'Sell.', ...others } = options
  const model = scriptedModel([{ calls: [{ name: 'pay', args: {} }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [...tools], instruction: text })
  return new Runner({ appName: 'shop', agent, ports, ...others })
}

/** Works until the end of the test, or until the returned function is called. */
function work(runner: Runner, label?: string): () => Promise<void> {
  const stop = new AbortController()
  const working = runner.work({ signal: stop.signal, pollMs: 10, label })
  const end = async (): Promise<void> => {
    stop.abort()
    await working
  }
  onTestFinished(end)
  return end
}

async function first(workerService: WorkerService): Promise<SeenWorker | undefined> {
  return (await workerService.list(filter))[0]
}

test('a worker is listed while it works, with its label, and counts the runs it continues', async () => {
  const workerService = new InMemoryWorkerService()
  const runner = shop({ workerService, tools: [pay(() => 'paid')] })
  const end = work(runner, 'pod-1')
  await expect
    .poll(() => first(workerService))
    .toMatchObject({ label: 'pod-1', engine: 'store', running: 0, crashes: 0 })
  await runner.submit({ userId: 'ada', message: 'Pay.' })
  await expect.poll(() => first(workerService)).toMatchObject({ continued: 1 })
  await end()
  expect(await workerService.list(filter)).toEqual([])
})

test('a worker that takes a session over from a dead one measures the recovery once', async () => {
  let time = 0
  const sessionService = new InMemorySessionService({ monotonicNow: () => time, leaseMs: 15_000 })
  const workerService = new InMemoryWorkerService()
  const started = Promise.withResolvers<void>()
  const hangs = pay(() => {
    started.resolve()
    return new Promise(() => {})
  })
  const dead = shop({ sessionService, tools: [hangs], logger: { warn: () => {}, error: () => {} } })
  dead.complete({ userId: 'ada', sessionId: 's1', message: 'Pay.' }).catch(() => {}) // it loses its lease
  await started.promise
  time += 15_000
  work(shop({ sessionService, workerService, tools: [pay(() => 'paid')] }))
  await expect.poll(() => first(workerService)).toMatchObject({ continued: 1, crashes: 1 })
  const { recoveries = [] } = (await first(workerService)) ?? {}
  expect(recoveries).toEqual([{ upToMs: expect.any(Number), count: 1 }])
  expect(recoveries[0]?.upToMs).toBeGreaterThanOrEqual(15_000)
})

test('a session that a worker left as interrupted needs no recovery', async () => {
  const sessionService = new InMemorySessionService()
  const workerService = new InMemoryWorkerService()
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  const runner = shop({ sessionService, workerService, tools: [pay(() => 'paid')] })
  await runner.submit({ userId: 'ada', sessionId: 's1', message: 'Pay.' })
  await sessionService.release(await sessionService.claim(key), { interrupted: true })
  work(runner)
  await expect.poll(() => first(workerService)).toMatchObject({ continued: 1, crashes: 0, recoveries: [] })
})

test('another agent tree has another digest, and the same one has the same', async () => {
  const digestOf = async (options: Parameters<typeof shop>[0]): Promise<string | undefined> => {
    const workerService = new InMemoryWorkerService()
    const end = work(shop({ workerService, ...options }))
    await expect.poll(() => first(workerService)).toBeDefined()
    const digest = (await first(workerService))?.agents
    await end()
    return digest
  }
  const tools = [pay(() => 'paid')]
  const digests = [
    await digestOf({ tools }),
    await digestOf({ tools: [pay(() => 'paid')] }),
    await digestOf({ tools: [pay(() => 'paid', 'Pays at once.')] }),
    await digestOf({ tools, text: 'Buy.' }),
    await digestOf({}),
  ]
  expect(digests[0]).toMatch(/^[0-9a-f]{12}$/)
  expect(digests[1]).toBe(digests[0])
  expect(new Set(digests).size).toBe(4)
})

test('a store that cannot list workers is reported once, and the work goes on', async () => {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  let reports = 0
  const fails = (): Promise<never> => {
    reports++
    return Promise.reject(new Error('The disk is full.'))
  }
  const workerService: WorkerService = { report: fails, remove: fails, list: async () => [], sweep: async () => 0 }
  const paid: string[] = []
  const runner = shop({ workerService, logger, tools: [pay(() => paid.push('paid'))] })
  const end = work(runner)
  await expect.poll(() => reports).toBeGreaterThan(2)
  await runner.submit({ userId: 'ada', message: 'Pay.' })
  await expect.poll(() => paid).toEqual(['paid'])
  await end()
  expect(warnings).toEqual(['The worker works, but cannot be listed: The disk is full.'])
})

test('workers that have died are forgotten', async () => {
  let time = 0
  const workerService = new InMemoryWorkerService({ monotonicNow: () => time })
  const counts = { running: 0, continued: 0, crashes: 0, recoveries: [] }
  const dead = { appName: 'shop', id: 'dead', engine: 'store', version: '1', agents: 'a', startedAt: 0 } as const
  await workerService.report({ ...dead, ...counts })
  time += 3_600_001
  work(shop({ workerService }))
  await expect.poll(async () => (await workerService.list(filter)).map(({ id }) => id === 'dead')).toEqual([false])
})

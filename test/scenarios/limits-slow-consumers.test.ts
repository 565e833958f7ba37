// Partial events for slow, late or absent consumers: a bounded number is kept, and no stored event is lost.
import {
  type Event,
  LlmAgent,
  type Model,
  type Plugin,
  type Run,
  Runner,
  type RunnerOptions,
  type Tool,
} from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { readEvents } from './bounded-store.ts'
import { createDeferred, plainTool, silentLogger } from './kit.ts'

const DELTAS = 20_000

/** A model that streams deltas and counts how many were pulled. */
function streaming(count = DELTAS): { model: Model; pulled: () => number; isClosed: () => boolean } {
  let pulled = 0
  let isClosed = false
  const model: Model = {
    name: 'streaming',
    async *generate() {
      try {
        for (; pulled < count; pulled++) yield { partial: true, content: { role: 'model', parts: [{ text: 'a' }] } }
        yield { content: { role: 'model', parts: [{ text: 'whole' }] } }
      } finally {
        isClosed = true
      }
    },
  }
  return { model, pulled: () => pulled, isClosed: () => isClosed }
}

function runnerOf(model: Model, more: Partial<RunnerOptions> = {}): Runner {
  return new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }), logger: silentLogger, ...more })
}

const start = (runner: Runner, detach = false): Run =>
  runner.run({ userId: 'ada', sessionId: 's1', message: 'go', runConfig: { streaming: true, detach } })

/** Yields to other tasks until the count no longer changes. */
async function countWhenIdle(count: () => number): Promise<number> {
  for (let same = 0, last = -1; same < 20; ) {
    await new Promise((resolve) => setImmediate(resolve))
    same = count() === last ? same + 1 : 0
    last = count()
  }
  return count()
}

const partials = (events: readonly Event[]): Event[] => events.filter(({ partial }) => partial)

describe('deltas of a model', () => {
  test('are pulled as fast as the consumer reads, and all arrive', async () => {
    const { model, pulled } = streaming()
    const events = start(runnerOf(model))[Symbol.asyncIterator]()
    await events.next()
    expect(await countWhenIdle(pulled)).toBeLessThan(1_000)
    let arrived = 1
    for (let next = await events.next(); !next.done; next = await events.next()) if (next.value.partial) arrived++
    expect(arrived).toBe(DELTAS)
  })

  test('are pulled as fast as a plugin handles them', async () => {
    const { model, pulled } = streaming()
    const look = createDeferred()
    const slow: Plugin = {
      name: 'slow',
      onEvent: ({ event }) => (event.partial ? look.promise.then(() => undefined) : undefined),
    }
    const reading = readEvents(start(runnerOf(model, { plugins: [slow] })))
    expect(await countWhenIdle(pulled)).toBeLessThan(1_000)
    look.resolve()
    expect(partials(await reading)).toHaveLength(DELTAS)
  })

  test("are dropped and the model's stream is closed when the consumer stops iterating", async () => {
    const { model, pulled, isClosed } = streaming()
    for await (const _ of start(runnerOf(model))) {
      await countWhenIdle(pulled)
      break
    }
    await countWhenIdle(pulled)
    expect(isClosed()).toBe(true)
    expect(pulled()).toBeLessThan(1_000)
  })

  test('of a detached run are dropped without a consumer, and a late consumer gets the stored events', async () => {
    const { model, pulled } = streaming()
    const run = start(runnerOf(model), true)
    await vi.waitFor(() => expect(pulled()).toBe(DELTAS))
    await countWhenIdle(pulled)
    const events = await readEvents(run)
    expect(partials(events)).toHaveLength(0)
    expect(events.map(({ content }) => content?.parts[0]?.text)).toEqual(['whole'])
  })

  test('of a detached run arrive at a consumer that reads from the start', async () => {
    const { model } = streaming(100)
    expect(partials(await readEvents(start(runnerOf(model), true)))).toHaveLength(100)
  })

  test('of a detached run do not wait for a consumer that stopped iterating', async () => {
    const { model, pulled } = streaming()
    const runner = runnerOf(model)
    for await (const _ of start(runner, true)) break
    await vi.waitFor(() => expect(pulled()).toBe(DELTAS))
    await countWhenIdle(pulled)
    const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(session?.events.at(-1)?.content?.parts[0]?.text).toBe('whole')
  })

  test('are not part of the events of complete()', async () => {
    const { model } = streaming()
    const { events, text } = await runnerOf(model).complete({
      userId: 'ada',
      message: 'go',
      runConfig: { streaming: true },
    })
    expect(events).toHaveLength(1)
    expect(text).toBe('whole')
  })
})

describe('progress of a tool', () => {
  const flood =
    (count: number, value: (n: number) => unknown): Tool['run'] =>
    (_, { progress }) => {
      for (let n = 1; n <= count; n++) progress(value(n))
      return 'ok'
    }
  const working = (body: Tool['run']): Runner => {
    let replies = 0
    const model: Model = {
      name: 'caller',
      async *generate() {
        const call = { functionCall: { id: 'c1', name: 'work', args: {} } }
        yield { content: { role: 'model', parts: [replies++ ? { text: 'done' } : call] } }
      },
    }
    const work = plainTool('work', (args, context) =>
      body(args, { ...context, progress: (value) => context.progress(value) }),
    )
    return new Runner({
      appName: 'app',
      agent: new LlmAgent({ name: 'agent', model, tools: [work] }),
      logger: silentLogger,
    })
  }
  const values = (events: readonly Event[]): unknown[] =>
    partials(events).map(({ content }) => content?.parts[0]?.functionResponse?.response.progress)

  test('is dropped, oldest first, when the body reports faster than the consumer reads', async () => {
    const events = await readEvents(start(working(flood(DELTAS, (n) => n))))
    expect(values(events).length).toBeLessThanOrEqual(1_000)
    expect(values(events).at(-1)).toBe(DELTAS)
    expect(events.filter(({ partial }) => !partial)).toHaveLength(3)
  })

  test('in values of 200 kB is buffered up to 8 MB, and the oldest values are dropped', async () => {
    const events = await readEvents(start(working(flood(200, (n) => `${n}${'x'.repeat(200_000)}`))))
    expect(values(events).length).toBeLessThanOrEqual(40)
    expect(String(values(events).at(-1))).toMatch(/^200x/)
  })

  test('of a thousand steps arrives completely', async () => {
    const events = await readEvents(start(working(flood(1_000, (n) => n))))
    expect(values(events)).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1))
  })
})

// A process reads a long session that another process holds, or that none holds: from its checkpoint on.
import {
  approve,
  background,
  LlmAgent,
  type PendingRequest,
  Runner,
  type RunnerOptions,
  type SessionService,
  type Tool,
  type ToolContext,
  tool,
} from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import type { LogPage } from 'toolwright/store'
import { scriptedModel } from 'toolwright/testing'
import { expect, type Mock, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { requestFor } from './approvals-kit.ts'
import { openWorld, resultsOf } from './background-engine-kit.ts'

const EVENTS = 300
const user = { userId: 'ada', sessionId: 's1' }
const key = { appName: 'shop', ...user }

/** Timers ten times as short: a request is published soon although a sibling call still runs. */
const quick: RunnerOptions['ports'] = {
  setTimer: (callback, ms, options) => {
    const timer = setTimeout(callback, ms / 10)
    if (options?.background) timer.unref()
    return () => clearTimeout(timer)
  },
}

interface Long {
  /** Holds the session. */
  readonly holder: Runner
  /** A runner of another process. */
  readonly other: Runner
  readonly running: ReturnType<Runner['complete']>
  readonly paid: Mock
  /** How many entries the other process has read. */
  readonly read: () => number
  readonly services: ReturnType<typeof sqlite>
  /** Lets the body of `wait` end. */
  readonly end: () => void
}

type ScriptedCall = { name: string; args?: Record<string, unknown> }
const PAY: ScriptedCall = { name: 'pay', args: { cents: 5 } }
const WAIT: ScriptedCall = { name: 'wait' }

/** A session with a checkpoint after its 300 imported events, and a run in it that waits. */
async function longSession(calls: ScriptedCall[] = [PAY, WAIT]): Promise<Long> {
  const services = sqlite(':memory:')
  onTestFinished(() => services.close())
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    id: `e${n}`,
    invocationId: `i${n >> 1}`,
    author: n % 2 ? 'clerk' : 'user',
    timestamp: n,
    actions: {},
    content: { role: n % 2 ? 'model' : 'user', parts: [{ text: `${n}` }] },
  }))
  await services.sessionService.createSession({ ...key, events: events as never })
  const gate = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'Wait',
    run: async () => {
      started.resolve()
      await gate.promise
      return { waited: true }
    },
  })
  const paid = vi.fn(() => ({ paid: true }))
  const pay = tool({
    name: 'pay',
    description: 'Pay',
    parameters: z.object({ cents: z.number() }),
    requiresConfirmation: true,
    confirmationHint: ({ cents }) => `Pay ${cents}?`,
    allowEditedArgs: true,
    run: paid,
  })
  const model = scriptedModel([{ calls }, 'Done.', ...Array.from({ length: 70 }, () => 'More.')])
  const agent = new LlmAgent({ name: 'clerk', model, tools: [pay, wait] })
  const holder = new Runner({ ...services, appName: 'shop', agent, ports: quick })
  const running = holder.complete({ ...user, message: 'Pay.' })
  running.catch(() => {})
  await started.promise
  let read = 0
  const sessionService = new Proxy(services.sessionService, {
    get: (target: SessionService, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        const result: unknown = await value.apply(target, args)
        if (name === 'readLog') read += (result as LogPage | undefined)?.entries.length ?? 0
        return result
      }
    },
  })
  const other = new Runner({ ...services, appName: 'shop', agent, sessionService })
  const end = (): void => gate.resolve()
  onTestFinished(async () => {
    end()
    await holder.close()
  })
  return { holder, running, paid, other, read: () => read, services, end }
}

async function requestOf({ services }: Long): Promise<PendingRequest> {
  await expect.poll(() => services.sessionService.pending(key)).toHaveLength(1)
  return requestFor(await services.sessionService.pending(key))
}

test('an answer to a long session that another process holds is checked without reading the log before its checkpoint', async () => {
  const long = await longSession()
  const request = await requestOf(long)
  await long.other.answer({ ...user, message: [approve(request)] })
  expect(long.read()).toBeLessThan(20)
  long.end()
  const { text } = await long.running
  expect(text).toBe('Done.')
  expect(long.paid).toHaveBeenCalledTimes(1)
  expect((await long.services.sessionService.readLog?.(key))?.entries.length).toBeGreaterThan(EVENTS)
})

test('an answer that repeats one from before the checkpoint is found, and not posted again', async () => {
  const long = await longSession()
  const request = await requestOf(long)
  await long.holder.answer({ ...user, message: [approve(request)] })
  long.end()
  await long.running
  for (let turn = 0; turn < 70; turn++) await long.holder.complete({ ...user, message: `Turn ${turn}.` })
  const { seq = 0 } = (await long.services.sessionService.readCheckpoint?.(key)) ?? {}
  expect(seq).toBeGreaterThan(EVENTS + 100)
  const lease = await long.services.sessionService.claim(key)
  await long.other.answer({ ...user, message: [approve(request)] })
  expect(await long.services.sessionService.inbox(lease)).toEqual([])
  await expect(long.other.answer({ ...user, message: [approve({ ...request, id: 'unknown' })] })).rejects.toThrow(
    'unknown',
  )
})

test('an edit in a long session is previewed without reading the log before its checkpoint', async () => {
  const long = await longSession()
  const { id: requestId } = await requestOf(long)
  expect(await long.other.previewApproval({ ...user, requestId, args: { cents: 7 } })).toEqual({
    args: { cents: 7 },
    hint: 'Pay 7?',
  })
  expect(long.read()).toBeLessThan(20)
})

test.each([
  ['nothing new', undefined, 0, []],
  ['an event after the checkpoint', 'later', 0, ['Done.']],
  ['an event before the checkpoint', 'e298', EVENTS, ['299', 'Done.']],
])('a client that follows a long session of another process reads what it needs: %s', async (_, from, most, texts) => {
  const long = await longSession([WAIT])
  const later = (await long.services.sessionService.readLog?.({ ...key, fromSeq: EVENTS + 1 }))?.entries[0]?.event?.id
  const seen: string[] = []
  const following = (async () => {
    const stream = long.other.follow({ ...user, afterEventId: from === 'later' ? later : from })
    for await (const { content } of stream) seen.push(...(content?.parts.flatMap(({ text }) => text ?? []) ?? []))
  })()
  await expect.poll(() => long.read()).toBeGreaterThan(0)
  long.end()
  await Promise.all([long.running, following])
  expect(seen).toEqual(texts.length ? texts : ['Done.'])
  expect(long.read()).toBeLessThan(2 * most + 60)
})

const search = (run: (args: unknown, context: ToolContext) => object): Tool =>
  background(tool({ name: 'search', description: 'Searches', effect: 'none', run }))

test('the body of a call in a long session begins with what the log and its checkpoint say', async () => {
  const services = sqlite(':memory:')
  onTestFinished(() => services.close())
  const turns = Array.from({ length: 70 }, (_, n) => `Answer ${n}.`)
  const world = openWorld(services, [...turns, { calls: [{ name: 'search' }] }, 'Found 3.'])
  const desk = { history: { lastTurns: 2 } }
  const web = world.open({ ...desk, tools: [search(() => expect.fail('The body must not run here.'))] })
  const texts: (string | undefined)[] = []
  const body = (_: unknown, { invocation: { session } }: ToolContext): object => {
    texts.push(...session.events.map(({ content }) => content?.parts[0]?.text))
    return { hits: 3 }
  }
  world.engine.workers.push(world.open({ ...desk, tools: [search(body)] }))
  for (const text of turns) await web.complete({ ...user, message: `To: ${text}` })
  await web.complete({ ...user, message: 'Search.' })
  await world.engine.idle()
  expect(texts.filter(Boolean)).toEqual(['To: Answer 69.', 'Answer 69.', 'Search.'])
  expect(await resultsOf(web)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
})

import {
  background,
  createEvent,
  InMemorySessionService,
  LlmAgent,
  Runner,
  type RunnerOptions,
  respond,
  tool,
} from 'toolwright'
import type { NewEntry } from 'toolwright/store'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

interface Search {
  readonly runner: Runner
  readonly finish: (result: unknown) => void
  readonly fail: (error: Error) => void
  readonly started: Promise<void>
  readonly signal: () => AbortSignal | undefined
  readonly model: ReturnType<typeof scriptedModel>
}

function startSearch(replies: Parameters<typeof scriptedModel>[0], options: Partial<RunnerOptions> = {}): Search {
  const result = Promise.withResolvers<unknown>()
  const started = Promise.withResolvers<void>()
  let signal: AbortSignal | undefined
  const search = tool({
    name: 'search',
    description: 'Searches the archive',
    parameters: z.object({ query: z.string() }),
    run: async (_, context) => {
      signal = context.signal
      started.resolve()
      const found = await result.promise
      context.state.set('searched', true)
      return found
    },
  })
  const model = scriptedModel(replies)
  const agent = new LlmAgent({ name: 'desk', model, tools: [background(search)] })
  const runner = new Runner({ appName: 'shop', agent, ...options })
  onTestFinished(() => runner.close())
  return {
    runner,
    model,
    finish: result.resolve,
    fail: result.reject,
    started: started.promise,
    signal: () => signal,
  }
}

const call = { calls: [{ name: 'search', args: { query: 'rent' } }] }

/** Waits until the session has this many replies of the agent. */
async function texts(runner: Runner, sessionId: string, count: number): Promise<string[]> {
  for (;;) {
    const session = await runner.sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId })
    const found = (session?.events ?? []).flatMap(({ author, content }) =>
      author === 'desk' && content?.role === 'model' ? (content.parts[0]?.text ?? []) : [],
    )
    if (found.length >= count) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('a background call in a text run is answered at once, and its result continues the invocation', async () => {
  const { runner, finish, started, model } = startSearch([call, 'Found 3.'])
  const { pending, sessionId, events } = await runner.complete({ userId: 'ada', message: 'Search.' })
  expect(pending).toMatchObject([{ kind: 'longRunning', tool: 'search' }])
  expect(events.at(-1)?.content?.parts[0]?.functionResponse).toMatchObject({
    response: { status: 'running', tool: 'search' },
    willContinue: true,
  })
  await started
  finish({ hits: 3 })
  expect(await texts(runner, sessionId, 1)).toEqual(['Found 3.'])
  const seen = model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response
  expect(seen).toEqual({ status: 'completed', tool: 'search', result: { hits: 3 } })
  const session = await runner.sessionService.getSession({ appName: 'shop', userId: 'ada', sessionId })
  expect(session?.state).toEqual({ searched: true })
  expect(await runner.pending()).toEqual([])
})

test('the user goes on talking while a background call runs', async () => {
  const { runner, finish, started } = startSearch([call, 'Hello!', 'Found it.'])
  const { sessionId } = await runner.complete({ userId: 'ada', message: 'Search.' })
  await started
  const other = await runner.complete({ userId: 'ada', sessionId, message: 'Hi.' })
  expect(other.text).toBe('Hello!')
  finish({ hits: 1 })
  expect(await texts(runner, sessionId, 2)).toEqual(['Hello!', 'Found it.'])
})

test('a background call that fails tells the model', async () => {
  const { runner, fail, started, model } = startSearch([call, 'It failed.'])
  const { sessionId } = await runner.complete({ userId: 'ada', message: 'Search.' })
  await started
  fail(new Error('archive is down'))
  await texts(runner, sessionId, 1)
  const seen = model.requests[1]?.contents.at(-1)?.parts[0]?.functionResponse?.response
  expect(seen).toEqual({ status: 'error', tool: 'search', error: 'archive is down' })
})

test('cancelling the invocation stops the background call', async () => {
  const { runner, started, signal } = startSearch([call])
  const { sessionId } = await runner.complete({ userId: 'ada', message: 'Search.' })
  await started
  await runner.cancel({ userId: 'ada', sessionId })
  expect(signal()?.aborted).toBe(true)
  expect(await runner.pending()).toEqual([])
})

test('closing the runner stops background calls, and their end is kept for the next run', async () => {
  const { runner, started, signal } = startSearch([call])
  const { sessionId } = await runner.complete({ userId: 'ada', message: 'Search.' })
  await started
  await runner.close()
  expect(signal()?.aborted).toBe(true)
  const { sessionService } = runner
  const model = scriptedModel(['It was cut short.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [] })
  const next = new Runner({ appName: 'shop', agent, sessionService })
  for await (const _ of next.resume({ userId: 'ada', sessionId })) void _
  const seen = model.requests[0]?.contents.at(-1)?.parts[0]?.functionResponse?.response
  expect(seen).toMatchObject({ status: 'error', error: expect.stringMatching(/may have taken effect/) })
})

test('a gated background call waits for its approval, then runs in the background', async () => {
  let ran = 0
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    requiresConfirmation: true,
    run: async () => {
      ran++
      return { paid: true }
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Paid.'])
  const runner = new Runner({ appName: 'shop', agent: new LlmAgent({ name: 'desk', model, tools: [background(pay)] }) })
  const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Pay.' })
  expect(pending).toMatchObject([{ kind: 'confirmation' }])
  expect(ran).toBe(0)
  const { approve } = await import('toolwright')
  await runner.complete({ userId: 'ada', sessionId, message: pending.map((request) => approve(request)) })
  expect(await texts(runner, sessionId, 1)).toEqual(['Paid.'])
  expect(ran).toBe(1)
  await runner.close()
})

test('background() refuses wrong options', () => {
  const noop = tool({ name: 'noop', description: 'Does nothing', run: () => ({}) })
  expect(() => background(noop, { scheduling: 'LATER' } as never)).toThrow(/scheduling/)
  expect(() => background(noop, { formatter: {} } as never)).toThrow(/format/)
})

test('a client cannot send the result of a background call whose body runs', async () => {
  const { runner, finish, started, model } = startSearch([call, 'Found 3.'])
  const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Search.' })
  await started
  const [request] = pending
  if (!request) throw new Error('No request is pending.')
  const forged = runner.complete({ userId: 'ada', sessionId, message: [respond(request, { hits: 9 })] })
  await expect(forged).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  finish({ hits: 3 })
  expect(await texts(runner, sessionId, 1)).toEqual(['Found 3.'])
  expect(JSON.stringify(model.requests[1]?.contents)).not.toContain('"hits":9')
})

test('the developer gives the result of a background call whose process has died, and no client does', async () => {
  const sessionService = new InMemorySessionService()
  const { runner, started } = startSearch([call], { sessionService })
  const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Search.' })
  await started
  const [request] = pending
  if (!request) throw new Error('No request is pending.')
  const { runner: next } = startSearch(['Found 9.'], { sessionService }) // stands for the process after a restart
  const forged = next.complete({ userId: 'ada', sessionId, message: [respond(request, { hits: 8 })] })
  await expect(forged).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  const key = { appName: 'shop', userId: 'ada', sessionId }
  await sessionService.post(key, { id: 'by-hand', type: 'result', callId: request.id, response: { hits: 9 } })
  for await (const _ of next.resume({ userId: 'ada', sessionId })) void _
  expect(await texts(next, sessionId, 1)).toEqual(['Found 9.'])
})

test('a client sends the result of a background call in a log of an earlier version, which has no mark', async () => {
  const sessionService = new InMemorySessionService()
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  const [functionCall, event] = [{ id: 'c1', name: 'search', args: { query: 'rent' } }, { invocationId: 'e-1' }]
  const handle = { id: 'c1', name: 'search', response: { status: 'running' }, willContinue: true }
  const scope = { ...event, author: 'desk', nodeInfo: { path: 'desk' } }
  const entries: NewEntry[] = [
    { event: createEvent({ ...event, id: '1', author: 'user', content: { role: 'user', parts: [{ text: 'Go.' }] } }) },
    {
      event: createEvent({
        ...scope,
        id: '2',
        turnComplete: true,
        content: { role: 'model', parts: [{ functionCall }] },
      }),
    },
    { record: { type: 'intent', invocationId: 'e-1', path: 'desk', calls: [{ id: 'c1' }] } },
    { event: createEvent({ ...scope, id: '3', content: { role: 'tool', parts: [{ functionResponse: handle }] } }) },
  ]
  await sessionService.append(lease, 0, entries)
  await sessionService.release(lease)
  const { runner } = startSearch(['Found 9.'], { sessionService })
  const message = [{ functionResponse: { id: 'c1', name: 'search', response: { hits: 9 } } }]
  expect((await runner.complete({ userId: 'ada', sessionId: 's1', message })).text).toBe('Found 9.')
})

test('a background call whose reply also transfers is cancelled, and its body does not start', async () => {
  let ran = 0
  const pay = tool({ name: 'pay', description: 'Pays', run: () => ({ paid: ++ran }) })
  const model = scriptedModel([
    { calls: [{ name: 'pay' }, { name: 'transfer_to_agent', args: { agent_name: 'helper' } }] },
    'Here I am.',
  ])
  const helper = new LlmAgent({ name: 'helper', description: 'Helps', model })
  const agent = new LlmAgent({ name: 'desk', model, tools: [background(pay)], subAgents: [helper] })
  const runner = new Runner({ appName: 'shop', agent })
  onTestFinished(() => runner.close())
  const { text, pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Pay.' })
  expect([text, pending]).toEqual(['Here I am.', []])
  await runner.internals.backgroundOf({ userId: 'ada', sessionId })
  expect(ran).toBe(0)
})

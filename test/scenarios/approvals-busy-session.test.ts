// Answers sent while another run holds the session: posted to the inbox, which the holder drains.
import {
  approve,
  deny,
  type Event,
  type Part,
  type Run,
  type RunnerOptions,
  respond,
  type SessionService,
  tool,
} from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  answerPart,
  finalResponses,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createDeferred } from './kit.ts'

/** Timers twenty times as short: a request is published soon although a sibling call still runs. */
const quick: Partial<RunnerOptions> = {
  ports: {
    setTimer: (callback, ms, options) => {
      const timer = setTimeout(callback, ms / 20)
      if (options?.background) timer.unref()
      return () => clearTimeout(timer)
    },
  },
}

const key = { appName: 'app', ...where }

/** A batch of two calls: c1 requests a confirmation, c2 works until the test lets it return. */
function asksAndWorks(store: SessionService, now: () => number = Date.now) {
  const begun = createDeferred()
  const letGo = createDeferred()
  const { refund, run } = refundTool()
  const work = tool({
    name: 'work',
    description: 'Works',
    run: async (_args, { signal }) => {
      begun.resolve()
      await Promise.race([letGo.promise, new Promise((_, reject) => signal.addEventListener('abort', reject))])
      return { worked: true }
    },
  })
  const calls = [
    { id: 'c1', name: 'refund', args: { amount: 5 } },
    { id: 'c2', name: 'work', args: {} },
  ]
  const runner = { ports: { ...quick.ports, now, monotonicNow: () => performance.now() } }
  const first = startProcess(store, { tools: [refund, work], steps: [{ calls }, 'done'], runner })
  const again = (steps: string[] = []) => startProcess(store, { tools: [refund, work], steps, runner: quick }).runner
  return { ...first, begun, letGo, run, again }
}

/** The pending request, as soon as it is published; the sibling call still runs. */
async function publishedRequest(store: SessionService) {
  return await vi.waitFor(async () => requestFor(await store.pending({ appName: 'app' })), { timeout: 5_000 })
}

async function read(run: Run): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of run) events.push(event)
  return events
}

async function inbox(store: SessionService) {
  const lease = await store.claim(key)
  const items = await store.inbox(lease)
  await store.release(lease)
  return items
}

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test('lists a pending request while the other calls of the batch still run', async () => {
    const store = newStore()
    const { runner, begun, letGo } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    expect(await publishedRequest(store)).toMatchObject({ kind: 'confirmation', functionCallId: 'c1', ...where })
    letGo.resolve()
    const { pending } = await working
    expect(await runner.pending()).toEqual(pending)
  })

  test('keeps an expired request expired when the clock is set back', async () => {
    const store = newStore()
    let ahead = 0
    const { runner, begun, letGo, run } = asksAndWorks(store, () => Date.now() + ahead)
    const working = sendMessage(runner)
    await begun.promise
    const message = [approve(await publishedRequest(store))]
    ahead = 25 * 3_600_000
    await expect(sendMessage(runner, message)).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(await store.pending({ appName: 'app' })).toEqual([])
    ahead = 0
    await expect(sendMessage(runner, message)).rejects.toMatchObject({ code: 'EXPIRED' })
    letGo.resolve()
    expect(await working).toMatchObject({ text: 'done', pending: [] })
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(await storedEvents(store))).toMatchObject({
      c1: { errorCode: 'CANCELLED' },
      c2: { worked: true },
    })
  })

  test('delivers an answer to the run that holds the session, and the sender follows that run', async () => {
    const store = newStore()
    const { runner, model, begun, letGo, run } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const answering = runner.run({ ...where, message: [approve(await publishedRequest(store))] })
    const followed = read(answering)
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([]))
    expect(run).not.toHaveBeenCalled()
    letGo.resolve()
    const first = await working
    expect(first).toMatchObject({ text: 'done', pending: [] })
    expect(run).toHaveBeenCalledOnce()
    expect(finalResponses(await storedEvents(store))).toEqual({ c1: { refunded: 5 }, c2: { worked: true } })
    const events = await followed
    expect(events).toEqual(first.events.slice(-events.length))
    expect(Object.keys(finalResponses(events)).sort()).toEqual(['c1', 'c2'])
    expect(answering.invocationId).toBe(first.invocationId)
    expect(model.requests).toHaveLength(2)
    expect(await inbox(store)).toEqual([])
  })

  test('delivers an answer from another process to the holder before its run pauses', async () => {
    const store = newStore()
    const { runner, begun, letGo, run, again } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const post = vi.spyOn(store, 'post')
    const elsewhere = sendMessage(again(), [approve(await publishedRequest(store))])
    await vi.waitFor(() => expect(post).toHaveResolved())
    letGo.resolve()
    expect(await working).toMatchObject({ text: 'done', pending: [] })
    expect(await elsewhere).toMatchObject({ text: 'done', pending: [] })
    expect(run).toHaveBeenCalledOnce()
    expect(await inbox(store)).toEqual([])
  })

  test('delivers a denial to the run that holds the session', async () => {
    const store = newStore()
    const { runner, begun, letGo, run } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const answering = sendMessage(runner, [deny(await publishedRequest(store), { reason: 'too much' })])
    letGo.resolve()
    await Promise.all([working, answering])
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(await storedEvents(store)).c1).toMatchObject({
      errorCode: 'CANCELLED',
      error: expect.stringContaining('too much'),
    })
  })

  test('runs the call once after a hundred equal answers during a run', async () => {
    const store = newStore()
    const { runner, begun, letGo, run, again } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const request = await publishedRequest(store)
    const others = [runner, again(), again(), runner]
    const sent = Array.from({ length: 100 }, (_, at) => sendMessage(others[at % 4] as never, [approve(request)]))
    letGo.resolve()
    const completions = await Promise.all([working, ...sent])
    expect(new Set(completions.map(({ text }) => text))).toEqual(new Set(['done']))
    expect(run).toHaveBeenCalledOnce()
    expect((await storedEvents(store)).filter(({ author, content }) => author === 'user' && content)).toHaveLength(2)
    expect(await inbox(store)).toEqual([])
  })

  test.each<[string, string, (id: string) => Part[]]>([
    ['an answer to an unknown request', 'NOT_FOUND', () => [answerPart('adk-nothing', { confirmed: true })]],
    ['a different second answer', 'ALREADY_ANSWERED', (id) => [answerPart(id, { confirmed: false })]],
    ['an answer with new text', 'INVALID_REQUEST', (id) => [answerPart(id, { confirmed: true }), { text: 'hello' }]],
  ])('rejects %s at once while the run continues', async (_what, code, message) => {
    const store = newStore()
    const { runner, begun, letGo, run } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const { id } = await publishedRequest(store)
    const answering = sendMessage(runner, [answerPart(id, { confirmed: true })])
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([]))
    await expect(sendMessage(runner, message(id))).rejects.toMatchObject({ code })
    letGo.resolve()
    expect((await Promise.all([working, answering])).map(({ text }) => text)).toEqual(['done', 'done'])
    expect(run).toHaveBeenCalledOnce()
    expect(await inbox(store)).toEqual([])
  })

  test('rejects new text with SESSION_BUSY while a run holds the session', async () => {
    const store = newStore()
    const { runner, begun, letGo, again } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    await expect(sendMessage(runner, 'and now?')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    await expect(sendMessage(again(), 'and now?')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    letGo.resolve()
    await working
  })

  test('continues the run when a follower stops iterating or aborts', async () => {
    const store = newStore()
    const { runner, begun, letGo, run } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const request = await publishedRequest(store)
    const controller = new AbortController()
    const aborted = runner.complete({ ...where, message: [approve(request)], signal: controller.signal })
    const left = (async () => {
      for await (const _ of runner.run({ ...where, message: [approve(request)] })) return
    })()
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([]))
    controller.abort()
    letGo.resolve()
    expect(await working).toMatchObject({ text: 'done', error: undefined })
    await Promise.all([aborted, left])
    expect(run).toHaveBeenCalledOnce()
  })

  test('ends a follower as soon as its signal aborts', async () => {
    const store = newStore()
    const { runner, begun, letGo } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const request = await publishedRequest(store)
    const controller = new AbortController()
    const following = runner.complete({ ...where, message: [approve(request)], signal: controller.signal })
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([]))
    controller.abort()
    await following // the work still runs
    letGo.resolve()
    expect(await working).toMatchObject({ text: 'done', error: undefined })
  })

  test('cancels the run when a follower calls cancel()', async () => {
    const store = newStore()
    const { runner, begun, run } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const answering = runner.run({ ...where, message: [approve(await publishedRequest(store))] })
    const followed = read(answering)
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([]))
    await answering.cancel()
    expect((await working).error?.code).toBe('CANCELLED')
    expect((await followed).at(-1)?.errorCode).toBe('CANCELLED')
    expect(run).not.toHaveBeenCalled()
  })

  test('rejects a waiting sender when its runner is closed, and the holder still uses the answer', async () => {
    const store = newStore()
    const { runner, begun, letGo, again, run } = asksAndWorks(store)
    const working = sendMessage(runner)
    await begun.promise
    const post = vi.spyOn(store, 'post')
    const other = again()
    const waiting = sendMessage(other, [approve(await publishedRequest(store))])
    await vi.waitFor(() => expect(post).toHaveResolved())
    await other.close()
    await expect(waiting).rejects.toThrow('The runner is closed.')
    letGo.resolve()
    expect((await working).text).toBe('done') // the answer was delivered
    expect(run).toHaveBeenCalledOnce()
  })

  test('uses an answer in the inbox after its sender died', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, {
      tools: [refund],
      steps: [{ calls: [{ name: 'refund', args: { amount: 5 } }] }],
    })
    const { pending } = await sendMessage(runner)
    const parts = [approve(requestFor(pending))]
    await store.post(key, { id: 'i1', type: 'answer', content: { role: 'user', parts } })
    const next = startProcess(store, { tools: [refund], steps: ['done'] }).runner
    const events = await read(next.resume(where))
    expect(events.at(-1)?.content?.parts).toEqual([{ text: 'done' }])
    expect(run).toHaveBeenCalledOnce()
    expect(await inbox(store)).toEqual([])
    await store.post(key, { id: 'i1', type: 'answer', content: { role: 'user', parts } }) // posted again: already delivered
    expect(await inbox(store)).toEqual([])
  })

  test('resumes the invocation with a long-running result from the inbox', async () => {
    const store = newStore()
    const ship = tool({ name: 'ship', description: 'Ship', isLongRunning: true, run: () => ({ ticket: 7 }) })
    const { runner } = startProcess(store, {
      tools: [ship],
      steps: [{ calls: [{ id: 'c1', name: 'ship' }] }, 'shipped'],
    })
    await sendMessage(runner)
    await store.post(key, { id: 'i1', type: 'result', callId: 'c1', response: { arrived: true } })
    await read(runner.resume(where))
    const texts = (await storedEvents(store)).flatMap(({ content }) => content?.parts.at(-1)?.text ?? [])
    expect(texts.at(-1)).toBe('shipped')
    expect(await store.pending({ appName: 'app' })).toEqual([])
  })

  test('applies a state delta from the inbox once', async () => {
    const store = newStore()
    const look = tool({ name: 'look', description: 'Look', run: (_args, { state }) => ({ seen: state.get('colour') }) })
    const { runner } = startProcess(store, {
      tools: [look],
      steps: ['hello', { calls: [{ id: 'c1', name: 'look' }] }, 'done'],
    })
    await sendMessage(runner)
    await store.post(key, { id: 'i1', type: 'state', stateDelta: { colour: 'blue' } })
    await sendMessage(runner)
    expect(finalResponses(await storedEvents(store)).c1).toEqual({ seen: 'blue' })
    expect(await inbox(store)).toEqual([])
  })

  test.each(['during the run', 'after the run has paused'])(
    'writes a state delta sent with an answer once, %s',
    async (when) => {
      const store = newStore()
      const { runner, begun, letGo, run } = asksAndWorks(store)
      const working = sendMessage(runner)
      await begun.promise
      const message = [approve(await publishedRequest(store))]
      if (when.startsWith('after')) {
        letGo.resolve()
        await working
      }
      const answering = runner.complete({ ...where, message, stateDelta: { colour: 'blue' } })
      letGo.resolve()
      await Promise.all([working, answering])
      expect(run).toHaveBeenCalledOnce()
      const session = await store.getSession(key)
      expect(session?.state).toMatchObject({ colour: 'blue' })
      expect(session?.events.filter(({ actions }) => actions.stateDelta?.colour)).toHaveLength(1)
      expect(await inbox(store)).toEqual([])
    },
  )

  test('records an answer once when it is sent again while the first is being appended', async () => {
    const store = newStore()
    const ship = tool({ name: 'ship', description: 'Ship', isLongRunning: true, run: () => ({ ticket: 7 }) })
    const slow = createDeferred()
    let appends = -10
    const remote = new Proxy(store, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          const result: unknown = await value.apply(target, args)
          if (member === 'append' && ++appends === 1) await slow.promise // the answer is stored, and the append has not returned
          return result
        }
      },
    })
    const steps = [{ calls: [{ id: 'c1', name: 'ship' }] }, 'shipped']
    const { runner } = startProcess(remote, { tools: [ship], steps, runner: { ...quick, whilePaused: 'reject' } })
    await sendMessage(runner)
    appends = 0
    const parts = (arrived: boolean) => [{ functionResponse: { id: 'c1', name: 'ship', response: { arrived } } }]
    const first = sendMessage(runner, parts(true))
    await vi.waitFor(() => expect(appends).toBe(1))
    const again = sendMessage(runner, parts(true))
    const other = sendMessage(runner, parts(false))
    other.catch(() => {}) // it may be refused before the first one ends
    slow.resolve()
    expect(await first).toMatchObject({ text: 'shipped' })
    expect(await again).toMatchObject({ text: 'shipped' })
    await expect(other).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    const given = (await storedEvents(store)).filter(
      ({ author, content }) => author === 'user' && content?.parts[0]?.functionResponse,
    )
    expect(given).toHaveLength(1)
  })

  test('records one response when a long-running result arrives while a sibling call escalates', async () => {
    const store = newStore()
    const [begun, letGo] = [createDeferred(), createDeferred()]
    const ship = tool({ name: 'ship', description: 'Ship', isLongRunning: true, run: () => ({ ticket: 7 }) })
    const leave = tool({
      name: 'leave',
      description: 'Leave',
      run: async (_args, { actions }) => {
        begun.resolve()
        await letGo.promise
        actions.escalate = true
      },
    })
    const calls = [
      { id: 'c1', name: 'ship' },
      { id: 'c2', name: 'leave' },
    ]
    const { runner } = startProcess(store, { tools: [ship, leave], steps: [{ calls }], runner: quick })
    const working = sendMessage(runner)
    await begun.promise
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toHaveLength(1))
    const response = { functionResponse: { id: 'c1', name: 'ship', response: { arrived: true } } }
    const answering = sendMessage(runner, [response]).catch((error) => error.code)
    letGo.resolve()
    await working
    expect(await answering).toBe('NOT_FOUND') // the result arrived too late
    const answers = (await storedEvents(store)).flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    )
    expect(answers.filter(({ id, willContinue }) => id === 'c1' && !willContinue)).toHaveLength(1)
  })

  test('rejects an answer from the inbox that does not match the schema, and keeps the request pending', async () => {
    const store = newStore()
    const name = tool({
      name: 'name',
      description: 'Name',
      run: (_args, context) => ({ given: context.requestInput({ key: 'n', message: 'Name?', schema: z.string() }) }),
    })
    const { runner } = startProcess(store, { tools: [name], steps: [{ calls: [{ id: 'c1', name: 'name' }] }, 'done'] })
    const { pending } = await sendMessage(runner)
    const unfit = { role: 'user' as const, parts: [respond(requestFor(pending), { result: 3 })] }
    await store.post(key, { id: 'i1', type: 'answer', content: unfit })
    await read(runner.resume(where))
    expect(await runner.pending()).toEqual(pending)
    expect(await inbox(store)).toEqual([])
  })
})

// recover(): a process dies or its store fails, and another process continues its pending work.
import {
  approve,
  deny,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type Run,
  Runner,
  type SessionService,
  ToolwrightError,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import {
  answerPart,
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  runnerOf,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createDeferred } from './kit.ts'

const key = { appName: 'app', ...where }

/** The store of a process that dies before or after its n-th append: no later call returns. */
function dying(store: SessionService, at: number, when: 'before' | 'after' = 'before'): SessionService {
  let appends = 0
  const never = new Promise<never>(() => {})
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (appends >= at) return never
        if (member !== 'append') return value.apply(target, args)
        if (++appends < at) return value.apply(target, args)
        if (when === 'after') void value.apply(target, args)
        return never
      }
    },
  })
}

/** The store that fails its n-th append and works again afterwards. */
function failing(store: SessionService, at: number): SessionService {
  let appends = 0
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      if (member !== 'append') return value.bind(target)
      return (...args: unknown[]) =>
        ++appends === at ? Promise.reject(new Error('The disk is full.')) : value.apply(target, args)
    },
  })
}

/** The store with a method that fails. */
function without(store: SessionService, method: string): SessionService {
  return new Proxy(store, {
    get(target, member) {
      if (member === method) return () => Promise.reject(new ToolwrightError('STORAGE', `${method}() fails.`))
      const value: unknown = Reflect.get(target, member)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function read(run: Run): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of run) events.push(event)
  return events
}

/** Lets the leases of all processes expire: no process renews, and time passes. */
async function expireLeases(): Promise<void> {
  vi.advanceTimersByTime(60_000)
}

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test('continues the pending work of a dead process once its lease expired, and finds no more work', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
    const store = newStore()
    const { refund, run } = refundTool({ requiresConfirmation: false, effect: 'idempotent' })
    const { runner } = startProcess(dying(store, 3), { tools: [refund], steps: [refundReply(5)] })
    void runner.run({ ...where, message: 'go', runConfig: { detach: true } })
    await vi.waitFor(() => expect(run).not.toHaveBeenCalled())
    const next = startProcess(store, { tools: [refund], steps: ['done'] })
    await vi.waitFor(async () => expect((await storedEvents(store)).length).toBeGreaterThan(1))
    expect(await next.runner.recover(), 'its lease has not expired').toEqual([])
    await expireLeases()
    const runs = await next.runner.recover()
    expect(runs).toHaveLength(1)
    const events = await read(runs[0] as Run)
    expect(events.at(-1)?.content?.parts).toEqual([{ text: 'done' }])
    expect(runs[0]).toMatchObject({ sessionId: 's1', invocationId: events[0]?.invocationId })
    expect(await next.runner.recover()).toEqual([])
    vi.useRealTimers()
  })

  test('returns the run to only one of several processes that recover at the same time', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
    const store = newStore()
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const { runner } = startProcess(dying(store, 3), { tools: [refund], steps: [refundReply(5)] })
    void runner.run({ ...where, message: 'go', runConfig: { detach: true } })
    await vi.waitFor(async () => expect((await storedEvents(store)).length).toBeGreaterThan(1))
    await expireLeases()
    const others = Array.from({ length: 5 }, () => startProcess(store, { tools: [refund], steps: ['done'] }).runner)
    const runs = (await Promise.all(others.map((one) => one.recover()))).flat()
    expect(runs).toHaveLength(1)
    await read(runs[0] as Run)
    expect(run).toHaveBeenCalledOnce()
    vi.useRealTimers()
  })

  test.each(['before', 'after'] as const)(
    'keeps a request pending when the process dies right %s publishing it',
    async (when) => {
      vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
      const store = newStore()
      const { refund, run } = refundTool()
      const { runner } = startProcess(dying(store, when === 'before' ? 4 : 3, when), {
        tools: [refund],
        steps: [refundReply(5)],
      })
      void runner.run({ ...where, message: 'go', runConfig: { detach: true } })
      const request = await vi.waitFor(async () => requestFor(await store.pending({ appName: 'app' })))
      await expireLeases()
      const next = startProcess(store, { tools: [refund], steps: ['done'] }).runner
      for (const one of await next.recover()) await read(one)
      expect(await next.pending()).toEqual([request])
      expect((await sendMessage(next, [approve(request)])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
      expect(await next.recover()).toEqual([])
      vi.useRealTimers()
    },
  )

  test('continues a run whose store failed, also after a rejected message', async () => {
    const store = newStore()
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const { runner } = startProcess(failing(store, 3), { tools: [refund], steps: [refundReply(5)] })
    await expect(sendMessage(runner)).rejects.toThrow('The disk is full.')
    expect(await store.interrupted({ appName: 'app' })).toEqual([key])
    const next = startProcess(store, { tools: [refund], steps: ['done'] }).runner
    await expect(sendMessage(next, 'hello?')).rejects.toMatchObject({ code: 'PAUSED' })
    expect(await store.interrupted({ appName: 'app' })).toEqual([key])
    await expect(sendMessage(next, [answerPart('nothing', { confirmed: true })])).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await store.interrupted({ appName: 'app' })).toEqual([key])
    for (const one of await next.recover()) await read(one)
    expect(run).toHaveBeenCalledOnce()
    expect(finalResponses(await storedEvents(store)).c1).toEqual({ refunded: 5 })
    expect(await store.interrupted({ appName: 'app' })).toEqual([])
  })

  test('denies an expired request and continues its run', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner, model } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'Nobody said yes.'] })
    const { pending } = await sendMessage(runner)
    expect(await runner.recover(), 'not expired').toEqual([])
    vi.setSystemTime(Date.now() + 25 * 60 * 60 * 1000)
    const runs = await runner.recover()
    expect(runs).toHaveLength(1)
    expect((await read(runs[0] as Run)).at(-1)?.content?.parts).toEqual([{ text: 'Nobody said yes.' }])
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(await storedEvents(store)).c1).toMatchObject({ errorCode: 'CANCELLED' })
    expect(model.requests).toHaveLength(2)
    expect(await runner.pending()).toEqual([])
    expect(await runner.recover()).toEqual([])
    await expect(sendMessage(runner, [approve(requestFor(pending))])).rejects.toMatchObject({ code: 'EXPIRED' })
    vi.useRealTimers()
  })

  test('answers unknown_outcome when the approver denies the second request after the first attempt may have run', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
    const store = newStore()
    const { refund, run } = refundTool({ effect: 'idempotent' })
    const { pending } = await sendMessage(startProcess(store, { tools: [refund], steps: [refundReply(5)] }).runner)
    const message = [approve(requestFor(pending))]
    const { runner } = startProcess(dying(store, 3), { tools: [refund], steps: [] })
    void runner.run({ ...where, message, runConfig: { detach: true } })
    await vi.waitFor(() => expect(run).toHaveBeenCalledOnce()) // the body has run; its response is not stored
    await expireLeases()
    const changed = {
      ...refund,
      declaration: () => ({ ...refund.declaration(), parametersJsonSchema: { type: 'object' } }),
    }
    const next = startProcess(store, { tools: [changed as never], steps: ['done'] }).runner
    for (const one of await next.recover()) await read(one)
    await sendMessage(next, [deny(requestFor(await next.pending()))])
    expect(run).toHaveBeenCalledOnce()
    expect(finalResponses(await storedEvents(store)).c1).toMatchObject({
      status: 'unknown_outcome',
      errorCode: 'UNKNOWN_OUTCOME',
    })
    vi.useRealTimers()
  })

  test('does not continue a run that was cancelled while its process was dead', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
    const store = newStore()
    const { refund, run } = refundTool({ requiresConfirmation: false })
    const { runner } = startProcess(dying(store, 3), { tools: [refund], steps: [refundReply(5)] })
    void runner.run({ ...where, message: 'go', runConfig: { detach: true } })
    await vi.waitFor(async () => expect((await storedEvents(store)).length).toBeGreaterThan(1))
    const next = startProcess(store, { tools: [refund], steps: ['hello'] }).runner
    await next.cancel(where) // the dead process still has the lease: the cancel goes to the inbox
    await expireLeases()
    expect(await next.recover()).toEqual([])
    const events = await storedEvents(store)
    expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
    expect(finalResponses(events).c1).toMatchObject({ errorCode: 'CANCELLED' })
    expect(run).not.toHaveBeenCalled()
    expect((await sendMessage(next)).text).toBe('hello')
    vi.useRealTimers()
  })

  test('continues the other sessions when one session cannot be read', async () => {
    const store = newStore()
    const { refund } = refundTool({ requiresConfirmation: false })
    for (const sessionId of ['s1', 's2']) {
      const { runner } = startProcess(failing(store, 3), { tools: [refund], steps: [refundReply(5)] })
      await expect(runner.complete({ ...where, sessionId, message: 'go' })).rejects.toThrow('The disk is full.')
    }
    const broken = new Proxy(store, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return (...args: [{ key?: { sessionId: string } }]) =>
          member === 'read' && args[0].key?.sessionId === 's1'
            ? Promise.reject(new ToolwrightError('STORAGE', 'The row is damaged.'))
            : value.apply(target, args)
      },
    })
    const error = vi.fn()
    const agent = new LlmAgent({ name: 'agent', model: scriptedModel(['done']), tools: [refund] })
    const runner = new Runner({ appName: 'app', agent, sessionService: broken, logger: { warn: () => {}, error } })
    const runs = await runner.recover()
    expect(runs.map(({ sessionId }) => sessionId)).toEqual(['s2'])
    expect(runs.failed).toEqual([
      { type: 'session', ...where, sessionId: 's1', code: 'STORAGE', message: 'The row is damaged.' },
    ])
    expect(error.mock.calls).toEqual([
      [
        `Session "s1" of user "${where.userId}" in app "app" could not be recovered: STORAGE: The row is damaged.`,
        expect.any(ToolwrightError),
      ],
    ])
    await read(runs[0] as Run)
    expect(await store.interrupted({ appName: 'app' })).toEqual([key]) // still interrupted
  })

  test('continues interrupted sessions when expired requests cannot be listed, and says so', async () => {
    const store = newStore()
    const { refund } = refundTool({ requiresConfirmation: false })
    const { runner } = startProcess(failing(store, 3), { tools: [refund], steps: [refundReply(5)] })
    await expect(runner.complete({ ...where, message: 'go' })).rejects.toThrow('The disk is full.')
    const error = vi.fn()
    const next = new Runner({
      appName: 'app',
      agent: new LlmAgent({ name: 'agent', model: scriptedModel(['done']), tools: [refund] }),
      sessionService: without(store, 'pendingPage'),
      logger: { warn: () => {}, error },
    })
    const runs = await next.recover()
    expect(runs.map(({ sessionId }) => sessionId)).toEqual([where.sessionId])
    expect(runs.failed).toEqual([{ type: 'expired requests', code: 'STORAGE', message: 'pendingPage() fails.' }])
    expect(error).toHaveBeenCalledWith(
      'Sessions with expired requests could not be listed: STORAGE: pendingPage() fails.',
      expect.any(ToolwrightError),
    )
    for (const run of runs) await read(run)
    const empty = new Runner({ appName: 'app', agent: next.agent, sessionService: without(store, 'interrupted') })
    await expect(empty.recover()).rejects.toMatchObject({ code: 'STORAGE', message: 'interrupted() fails.' })
    expect((await next.recover()).failed).toHaveLength(1)
  })

  test('closes the pending request of a sibling call in the append of a transfer', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'hrtime'] })
    const store = newStore()
    const { refund, run } = refundTool()
    const letGo = createDeferred()
    const leave = tool({
      name: 'leave',
      description: 'Leave',
      run: async (_args, context) => {
        await letGo.promise
        context.transferToAgent('other')
      },
    })
    const calls = [...(refundReply(5) as { calls: { name: string }[] }).calls, { name: 'leave', args: {} }]
    const other = new LlmAgent({ name: 'other', model: scriptedModel([]) })
    const agent = new LlmAgent({
      name: 'agent',
      model: scriptedModel([{ calls }]),
      tools: [refund, leave],
      subAgents: [other],
    })
    const quick = { setTimer: (callback: () => void, ms: number) => cancellable(setTimeout(callback, ms / 50)) }
    // Appends: 1 message, 2 reply, 3 intent, 4 request, 5 transfer. The process dies right after the transfer.
    const runner = runnerOf(dying(store, 5, 'after'), agent, { ports: quick })
    void runner.run({ ...where, message: 'go', runConfig: { detach: true } })
    await vi.waitFor(async () => requestFor(await store.pending({ appName: 'app' })))
    letGo.resolve()
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([]))
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(await storedEvents(store)).c1).toMatchObject({ status: 'cancelled' })
    vi.useRealTimers()
  })
})

function cancellable(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer)
}

test('recover() returns no runs for an empty store', async () => {
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel([]) })
  expect(await new Runner({ appName: 'app', agent }).recover()).toEqual([])
})

test('the runner marks the session as interrupted when append throws instead of rejecting', async () => {
  const store = new InMemorySessionService()
  const { refund } = refundTool({ requiresConfirmation: false })
  const throwing = new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...args: [unknown, number]) => {
        if (member === 'append' && args[1] > 1) throw new Error('gone')
        return value.apply(target, args)
      }
    },
  })
  await expect(
    sendMessage(startProcess(throwing, { tools: [refund], steps: [refundReply(5)] }).runner),
  ).rejects.toThrow('gone')
  expect(await store.interrupted({ appName: 'app' })).toEqual([key])
})

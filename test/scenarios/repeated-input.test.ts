// Repeated, concurrent and late answers, results, cancels and resumes.
import { approve, background, longRunning, type Model, type Part, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import {
  answerPart,
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createDeferred, plainTool } from './kit.ts'
import { clockedStores, hangInBody, LEASE_MS, resumeSession } from './lease-kit.ts'

describe.each(clockedStores)('the runner with sessions %s', (_, newStore) => {
  test('runs the call once after fifty simultaneous resumes [PR-06]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    await hangInBody(store, (run) => plainTool('work', run, { effect: 'idempotent' }), [{ calls: [{ name: 'work' }] }])
    clock.time += LEASE_MS
    const run = vi.fn(() => ({ ok: true }))
    const work = plainTool('work', run, { effect: 'idempotent' })
    const runners = Array.from({ length: 5 }, () => startProcess(store, { tools: [work], steps: ['done'] }).runner)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_one, at) => resumeSession(runners[at % 5] as never)),
    )
    expect(run).toHaveBeenCalledOnce()
    const codes = new Set(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code)))
    expect(codes).toContain('done')
    expect([...codes].filter((one) => !['done', 'SESSION_BUSY', 'NOT_FOUND'].includes(one))).toEqual([])
    expect(Object.keys(finalResponses(await storedEvents(store)))).toHaveLength(1)
  })
})

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test('calls no predicate, model or body when a completed invocation is answered or resumed again [PR-07]', async () => {
    const store = newStore()
    const requiresConfirmation = vi.fn(() => true)
    const { refund, run } = refundTool({ requiresConfirmation })
    const { runner, model } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done', 'never'] })
    const { pending } = await sendMessage(runner)
    const first = await sendMessage(runner, [approve(requestFor(pending))])
    const predicateCalls = requiresConfirmation.mock.calls.length
    const log = JSON.stringify(await storedEvents(store))
    for (let n = 0; n < 2; n++) {
      await expect(resumeSession(runner)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect((await sendMessage(runner, [approve(requestFor(pending))])).events).toEqual(first.events)
    }
    expect([requiresConfirmation.mock.calls.length, run.mock.calls.length, model.requests.length]).toEqual([
      predicateCalls,
      1,
      2,
    ])
    expect(JSON.stringify(await storedEvents(store))).toBe(log)
  })

  test('matches five approvals in reverse order across restarts after a conversation of 5 MB [PR-08]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    await sendMessage(startProcess(store, { steps: ['x'.repeat(5_000_000)] }).runner)
    const { pending } = await sendMessage(
      startProcess(store, { tools: [refund], steps: [refundReply(1, 2, 3, 4, 5)] }).runner,
    )
    for (const request of pending.toReversed()) {
      const { runner } = startProcess(store, { tools: [refund], steps: run.mock.calls.length === 4 ? ['done'] : [] })
      await sendMessage(runner, [approve(request)])
    }
    expect(run.mock.calls.map(([{ amount }]) => amount)).toEqual([5, 4, 3, 2, 1])
    const given = finalResponses(await storedEvents(store))
    expect(pending.map(({ functionCallId }) => given[functionCallId]?.refunded)).toEqual([1, 2, 3, 4, 5])
  })

  test('starts six long-running calls once and accepts each result once [PR-09]', async () => {
    const store = newStore()
    const run = vi.fn(() => ({ ticket: run.mock.calls.length }))
    const tools = [longRunning(tool({ name: 'order', description: 'Order', run }))]
    const ids = ['o1', 'o2', 'o3', 'o4', 'o5', 'o6']
    const steps = [{ calls: ids.map((id) => ({ id, name: 'order' })) }]
    await sendMessage(startProcess(store, { tools, steps }).runner)
    const { runner, model } = startProcess(store, { tools, steps: ['all here'] })
    const box = (id: string, n = 1): Part => answerPart(id, { box: n }, 'order')
    const { pending } = await sendMessage(runner, [box('o3')])
    expect(pending.map(({ id }) => id)).toEqual(['o1', 'o2', 'o4', 'o5', 'o6'])
    const log = JSON.stringify(await storedEvents(store))
    await sendMessage(runner, [box('o3')]) // sent again, the result changes nothing
    await expect(sendMessage(runner, [box('o3', 2)])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    expect(JSON.stringify(await storedEvents(store))).toBe(log)
    expect(run).toHaveBeenCalledTimes(6)
    expect(model.requests).toEqual([])
    const { text } = await sendMessage(
      runner,
      pending.map(({ id }) => box(id)),
    )
    expect(text).toBe('all here')
    expect(run).toHaveBeenCalledTimes(6)
    const responses = model.requests[0]?.contents
      .at(-1)
      ?.parts.map(({ functionResponse }) => functionResponse?.response)
    expect(responses).toEqual(Array(6).fill({ box: 1 }))
  })

  test('runs and stores a streamed call once, and not its partial [PR-10]', async () => {
    const store = newStore()
    const run = vi.fn((args: unknown) => ({ got: args }))
    const pay = plainTool('pay', run)
    const part = (args: object): Part => ({ functionCall: { name: 'pay', args: { ...args } } })
    const replies = [
      [part({}), part({ amount: 5 })],
      [{ text: 'do' }, { text: 'done' }],
    ]
    const model: Model = {
      name: 'streaming',
      async *generate() {
        const [half, whole] = (replies.shift() ?? []) as [Part, Part]
        yield { content: { role: 'model', parts: [half] }, partial: true }
        yield { content: { role: 'model', parts: [whole] } }
      },
    }
    const { runner } = startProcess(store, { tools: [pay], agent: { model } })
    const ids: (string | undefined)[] = []
    for await (const { content } of runner.run({ ...where, message: 'go', runConfig: { streaming: true } }))
      for (const { functionCall, functionResponse } of content?.parts ?? [])
        if (functionCall ?? functionResponse) ids.push((functionCall ?? functionResponse)?.id)
    expect(ids).toHaveLength(3) // the partial call, the complete call, the response
    expect(new Set(ids).size).toBe(1)
    expect(run.mock.calls.map(([args]) => args)).toEqual([{ amount: 5 }])
    const calls = (await storedEvents(store)).flatMap(
      ({ content }) => content?.parts.flatMap((one) => one.functionCall ?? []) ?? [],
    )
    expect(calls).toEqual([{ id: ids[0], name: 'pay', args: { amount: 5 } }])
  })

  test('runs no call when the model fails after a partial call [PR-10]', async () => {
    const store = newStore()
    const run = vi.fn()
    const model: Model = {
      name: 'streaming',
      async *generate() {
        yield { content: { role: 'model', parts: [{ functionCall: { name: 'pay', args: {} } }] }, partial: true }
        throw new Error('the line is dead')
      },
    }
    const { runner } = startProcess(store, { tools: [plainTool('pay', run)], agent: { model } })
    const { error } = await runner.complete({ ...where, message: 'go', runConfig: { streaming: true } })
    expect(error?.code).toBe('MODEL_ERROR')
    expect(run).not.toHaveBeenCalled()
    expect(JSON.stringify(await storedEvents(store))).not.toContain('functionCall')
  })

  test('records one cancellation when a run is cancelled twice during a body and once after its end [PR-12]', async () => {
    const store = newStore()
    const began = createDeferred<AbortSignal>()
    const work = tool({
      name: 'work',
      description: 'Work',
      run: (_args, { signal }) => {
        began.resolve(signal)
        return new Promise(() => {})
      },
    })
    const { runner } = startProcess(store, { tools: [work], steps: [{ calls: [{ id: 'c1', name: 'work' }] }, 'fine'] })
    const completion = sendMessage(runner)
    const signal = await began.promise
    await Promise.all([runner.cancel(where), runner.cancel(where)])
    expect((await completion).error?.code).toBe('CANCELLED')
    expect(signal.aborted).toBe(true)
    const events = await storedEvents(store)
    expect(finalResponses(events).c1).toMatchObject({ status: 'unknown_outcome' })
    expect(events.filter(({ errorCode }) => errorCode === 'CANCELLED')).toHaveLength(1)
    await runner.cancel(where)
    expect(await storedEvents(store)).toEqual(events)
    expect((await sendMessage(runner, 'and now?')).text).toBe('fine')
  })

  test('keeps the expiry of a request when the clock jumps an hour forward and back [PR-13]', async () => {
    const HOUR = 60 * 60 * 1000
    for (const [jumps, code] of [
      [[HOUR, -HOUR, -HOUR], undefined],
      [[-HOUR, 24 * HOUR], undefined],
      [[-HOUR, 25 * HOUR], 'EXPIRED'],
      [[HOUR, 23 * HOUR, -HOUR], undefined],
    ] as const) {
      let now = 1_800_000_000_000
      const { refund, run } = refundTool()
      const runner = { ports: { now: () => now } }
      const paused = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'], runner }).runner
      const { pending } = await sendMessage(paused)
      for (const jump of jumps) {
        now += jump
        const isLate = now >= 1_800_000_000_000 + 24 * HOUR
        expect(await paused.pending(), 'listing records nothing').toHaveLength(isLate ? 0 : 1)
      }
      const outcome = await sendMessage(paused, [approve(requestFor(pending))]).catch((error) => error.code)
      expect(outcome).toEqual(code ?? expect.objectContaining({ text: 'done' }))
      expect(run).toHaveBeenCalledTimes(code ? 0 : 1)
    }
  })

  test('rejects a result for a deleted session and accepts one before [PR-15]', async () => {
    const store = newStore()
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
    const steps = [{ calls: [{ id: 'o1', name: 'order' }] }, 'here']
    const { runner } = startProcess(store, { tools: [order], steps: [...steps, ...steps] })
    await sendMessage(runner)
    expect((await sendMessage(runner, [answerPart('o1', { box: 1 }, 'order')])).text).toBe('here')
    await sendMessage(runner)
    await store.deleteSession({ appName: 'app', ...where })
    expect(await runner.pending()).toEqual([])
    await expect(sendMessage(runner, [answerPart('o1', { box: 1 }, 'order')])).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    const item = { id: 'i1', type: 'result' as const, callId: 'o1', response: { box: 1 } }
    await expect(store.post({ appName: 'app', ...where }, item)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await store.getSession({ appName: 'app', ...where })).toBeUndefined()
  })

  test('writes nothing when background work finishes after its session was deleted [PR-15]', async () => {
    const store = newStore()
    const result = createDeferred<object>()
    const work = background(plainTool('work', () => result.promise))
    const steps = [{ calls: [{ id: 'c1', name: 'work' }] }, 'done']
    const { runner, model } = startProcess(store, { tools: [work], steps })
    await sendMessage(runner)
    await store.deleteSession({ appName: 'app', ...where })
    result.resolve({ ok: true })
    await runner.close()
    expect(model.requests).toHaveLength(1)
    expect(await store.getSession({ appName: 'app', ...where })).toBeUndefined()
  })

  test('writes nothing when a body finishes after its session was deleted [PR-15]', async () => {
    const store = newStore()
    const began = createDeferred()
    const result = createDeferred<object>()
    const work = plainTool('work', () => {
      began.resolve()
      return result.promise
    })
    const { runner } = startProcess(store, { tools: [work], steps: [{ calls: [{ id: 'c1', name: 'work' }] }, 'done'] })
    const completion = sendMessage(runner)
    await began.promise
    await store.deleteSession({ appName: 'app', ...where })
    result.resolve({ ok: true })
    await expect(completion).rejects.toMatchObject({ code: 'SESSION_GONE' })
    expect(await store.getSession({ appName: 'app', ...where })).toBeUndefined()
  })
})

// Repeated, concurrent and late answers, results, cancels and resumes.
import { approve, longRunning, type Model, type Part, tool } from 'toolwright'
import { describe, expect, test, vi } from 'vitest'
import { about, answer, finals, process, refunds, refundTool, say, stored, stores, where } from './approvals-kit.ts'
import { bare, signalled } from './kit.ts'
import { clockedStores, LEASE_MS, leftHanging, resumed } from './lease-kit.ts'

describe.each(clockedStores)('%s', (_, newStore) => {
  test('runs the call once after fifty simultaneous resumes [PR-06]', async () => {
    const clock = { time: 0 }
    const store = newStore(clock)
    await leftHanging(store, (run) => bare('work', run, { effect: 'idempotent' }), [{ calls: [{ name: 'work' }] }])
    clock.time += LEASE_MS
    const run = vi.fn(() => ({ ok: true }))
    const work = bare('work', run, { effect: 'idempotent' })
    const runners = Array.from({ length: 5 }, () => process(store, { tools: [work], steps: ['done'] }).runner)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_one, at) => resumed(runners[at % 5] as never)),
    )
    expect(run).toHaveBeenCalledOnce()
    const codes = new Set(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code)))
    expect(codes).toContain('done')
    expect([...codes].filter((one) => !['done', 'SESSION_BUSY', 'NOT_FOUND'].includes(one))).toEqual([])
    expect(Object.keys(finals(await stored(store)))).toHaveLength(1)
  })
})

describe.each(stores)('%s', (_, newStore) => {
  test('calls no predicate, model or body when a completed invocation is answered or resumed again [PR-07]', async () => {
    const store = newStore()
    const requiresConfirmation = vi.fn(() => true)
    const { refund, run } = refundTool({ requiresConfirmation })
    const { runner, model } = process(store, { tools: [refund], steps: [refunds(5), 'done', 'never'] })
    const { pending } = await say(runner)
    const first = await say(runner, [approve(about(pending))])
    const predicateCalls = requiresConfirmation.mock.calls.length
    const log = JSON.stringify(await stored(store))
    for (let n = 0; n < 2; n++) {
      await expect(resumed(runner)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect((await say(runner, [approve(about(pending))])).events).toEqual(first.events)
    }
    expect([requiresConfirmation.mock.calls.length, run.mock.calls.length, model.requests.length]).toEqual([
      predicateCalls,
      1,
      2,
    ])
    expect(JSON.stringify(await stored(store))).toBe(log)
  })

  test('matches five approvals in reverse order across restarts after a conversation of 5 MB [PR-08]', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    await say(process(store, { steps: ['x'.repeat(5_000_000)] }).runner)
    const { pending } = await say(process(store, { tools: [refund], steps: [refunds(1, 2, 3, 4, 5)] }).runner)
    for (const request of pending.toReversed()) {
      const { runner } = process(store, { tools: [refund], steps: run.mock.calls.length === 4 ? ['done'] : [] })
      await say(runner, [approve(request)])
    }
    expect(run.mock.calls.map(([{ amount }]) => amount)).toEqual([5, 4, 3, 2, 1])
    const given = finals(await stored(store))
    expect(pending.map(({ functionCallId }) => given[functionCallId]?.refunded)).toEqual([1, 2, 3, 4, 5])
  })

  test('starts six long-running calls once and accepts each result once [PR-09]', async () => {
    const store = newStore()
    const run = vi.fn(() => ({ ticket: run.mock.calls.length }))
    const tools = [longRunning(tool({ name: 'order', description: 'Order', run }))]
    const ids = ['o1', 'o2', 'o3', 'o4', 'o5', 'o6']
    const steps = [{ calls: ids.map((id) => ({ id, name: 'order' })) }]
    await say(process(store, { tools, steps }).runner)
    const { runner, model } = process(store, { tools, steps: ['all here'] })
    const box = (id: string, n = 1): Part => answer(id, { box: n }, 'order')
    const { pending } = await say(runner, [box('o3')])
    expect(pending.map(({ id }) => id)).toEqual(['o1', 'o2', 'o4', 'o5', 'o6'])
    const log = JSON.stringify(await stored(store))
    await say(runner, [box('o3')]) // sent again, the result changes nothing
    await expect(say(runner, [box('o3', 2)])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    expect(JSON.stringify(await stored(store))).toBe(log)
    expect(run).toHaveBeenCalledTimes(6)
    expect(model.requests).toEqual([])
    const { text } = await say(
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
    const pay = bare('pay', run)
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
    const { runner } = process(store, { tools: [pay], agent: { model } })
    const ids: (string | undefined)[] = []
    for await (const { content } of runner.run({ ...where, message: 'go', runConfig: { streaming: true } }))
      for (const { functionCall, functionResponse } of content?.parts ?? [])
        if (functionCall ?? functionResponse) ids.push((functionCall ?? functionResponse)?.id)
    expect(ids).toHaveLength(3) // the partial call, the complete call, the response
    expect(new Set(ids).size).toBe(1)
    expect(run.mock.calls.map(([args]) => args)).toEqual([{ amount: 5 }])
    const calls = (await stored(store)).flatMap(
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
    const { runner } = process(store, { tools: [bare('pay', run)], agent: { model } })
    const { error } = await runner.complete({ ...where, message: 'go', runConfig: { streaming: true } })
    expect(error?.code).toBe('MODEL_ERROR')
    expect(run).not.toHaveBeenCalled()
    expect(JSON.stringify(await stored(store))).not.toContain('functionCall')
  })

  test('records one cancellation when a run is cancelled twice during a body and once after its end [PR-12]', async () => {
    const store = newStore()
    const began = signalled<AbortSignal>()
    const work = tool({
      name: 'work',
      description: 'Work',
      run: (_args, { signal }) => {
        began.resolve(signal)
        return new Promise(() => {})
      },
    })
    const { runner } = process(store, { tools: [work], steps: [{ calls: [{ id: 'c1', name: 'work' }] }, 'fine'] })
    const completion = say(runner)
    const signal = await began.promise
    await Promise.all([runner.cancel(where), runner.cancel(where)])
    expect((await completion).error?.code).toBe('CANCELLED')
    expect(signal.aborted).toBe(true)
    const events = await stored(store)
    expect(finals(events).c1).toMatchObject({ status: 'unknown_outcome' })
    expect(events.filter(({ errorCode }) => errorCode === 'CANCELLED')).toHaveLength(1)
    await runner.cancel(where)
    expect(await stored(store)).toEqual(events)
    expect((await say(runner, 'and now?')).text).toBe('fine')
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
      const paused = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'], runner }).runner
      const { pending } = await say(paused)
      for (const jump of jumps) {
        now += jump
        const isLate = now >= 1_800_000_000_000 + 24 * HOUR
        expect(await paused.pending(), 'listing records nothing').toHaveLength(isLate ? 0 : 1)
      }
      const outcome = await say(paused, [approve(about(pending))]).catch((error) => error.code)
      expect(outcome).toEqual(code ?? expect.objectContaining({ text: 'done' }))
      expect(run).toHaveBeenCalledTimes(code ? 0 : 1)
    }
  })

  test('rejects a result for a deleted session and accepts one before [PR-15]', async () => {
    const store = newStore()
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
    const steps = [{ calls: [{ id: 'o1', name: 'order' }] }, 'here']
    const { runner } = process(store, { tools: [order], steps: [...steps, ...steps] })
    await say(runner)
    expect((await say(runner, [answer('o1', { box: 1 }, 'order')])).text).toBe('here')
    await say(runner)
    await store.deleteSession({ appName: 'app', ...where })
    expect(await runner.pending()).toEqual([])
    await expect(say(runner, [answer('o1', { box: 1 }, 'order')])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const item = { id: 'i1', type: 'result' as const, callId: 'o1', response: { box: 1 } }
    await expect(store.post({ appName: 'app', ...where }, item)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await store.getSession({ appName: 'app', ...where })).toBeUndefined()
  })

  test('writes nothing when a body finishes after its session was deleted [PR-15]', async () => {
    const store = newStore()
    const began = signalled()
    const result = signalled<object>()
    const work = bare('work', () => {
      began.resolve()
      return result.promise
    })
    const { runner } = process(store, { tools: [work], steps: [{ calls: [{ id: 'c1', name: 'work' }] }, 'done'] })
    const completion = say(runner)
    await began.promise
    await store.deleteSession({ appName: 'app', ...where })
    result.resolve({ ok: true })
    await expect(completion).rejects.toMatchObject({ code: expect.stringMatching(/LEASE_LOST|NOT_FOUND/) })
    expect(await store.getSession({ appName: 'app', ...where })).toBeUndefined()
  })
})

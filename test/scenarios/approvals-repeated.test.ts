// Repeated, late and expired answers: one answer counts, once.
import { approve, deny, longRunning, type PendingRequest, type SessionService, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { about, answer, finals, process, refunds, refundTool, say, stored, stores, where } from './approvals-kit.ts'
import { openLog, signalled } from './kit.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(stores)('%s', (_, newStore) => {
  test('runs the call once after a hundred simultaneous submissions, and returns the same events to all [DG-06]', async () => {
    const store = newStore()
    const gate = signalled()
    const { refund, run } = refundTool()
    run.mockImplementation(async () => await gate.promise)
    const { runner } = process(store, { tools: [refund], steps: [refunds(5), 'done'] })
    const { pending } = await say(runner)
    const others = Array.from({ length: 4 }, () => process(store, { tools: [refund], steps: ['done'] }).runner)
    const sent = Array.from({ length: 100 }, (_one, at) => say(others[at % 4] as never, [approve(about(pending))]))
    gate.resolve()
    const completions = await Promise.all(sent)
    expect(run).toHaveBeenCalledOnce()
    expect(new Set(completions.map(({ text }) => text))).toEqual(new Set(['done']))
    const given = (await stored(store)).filter(({ content }) => content?.parts.some((part) => part.functionResponse))
    expect(given).toHaveLength(2) // one answer and one response
  })

  test.each(['by the request id', 'by the call id'])(
    'returns the events of the first answer when it is sent again, %s [PR-07]',
    async (how) => {
      const store = newStore()
      const { refund, run } = refundTool()
      const { runner } = process(store, { tools: [refund], steps: [refunds(5), 'done', 'later'] })
      const { pending } = await say(runner)
      const part = how.includes('call') ? answer('c1', { confirmed: true }) : approve(about(pending))
      const first = await say(runner, [part])
      const before = await stored(store)
      const elsewhere = process(store, { tools: [refund], steps: [] })
      expect((await say(elsewhere.runner, [part])).events).toEqual(first.events)
      await say(runner, 'and then?')
      const again = await say(runner, [part])
      expect(again.events).toEqual(first.events)
      expect(again).toMatchObject({ text: 'done', pending: [], invocationId: first.invocationId })
      expect((await stored(store)).slice(0, before.length)).toEqual(before)
      expect(run).toHaveBeenCalledOnce()
    },
  )

  test.each(['refund', 'adk_request_confirmation'])(
    'does not treat an approval sent again by the call id as %s as the result of the long-running call',
    async (name) => {
      const { refund, run } = refundTool()
      run.mockReturnValue({ job: 7 })
      const { runner } = process(newStore(), { tools: [longRunning(refund)], steps: [refunds(5), 'done'] })
      await say(runner)
      const approval = { functionResponse: { id: 'c1', name, response: { confirmed: true } } }
      const { pending } = await say(runner, [approval])
      expect(about(pending)).toMatchObject({ kind: 'longRunning', functionCallId: 'c1' })
      const again = say(runner, [approval])
      if (name === 'refund') await expect(again).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
      else expect((await again).pending).toEqual(pending)
      expect(await runner.pending()).toMatchObject([{ kind: 'longRunning', functionCallId: 'c1' }])
      const result = { result: { confirmed: true } }
      expect((await say(runner, [answer('c1', result)])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    },
  )

  test('rejects a different answer with ALREADY_ANSWERED, also after the invocation has completed [DG-06]', async () => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done', 'later'] })
    const request = about((await say(runner)).pending)
    await say(runner, [deny(request)])
    for (const late of [approve(request), approve(request, { payload: 1 }), deny(request, { reason: 'x' })]) {
      await expect(say(runner, [late])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    }
    await say(runner, 'next')
    await expect(say(runner, [approve(request)])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    await expect(say(runner, [answer('c1', { confirmed: true })])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    expect(run).not.toHaveBeenCalled()
  })

  test('rejects two answers to one request in one message', async () => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'] })
    const request = about((await say(runner)).pending)
    for (const parts of [
      [deny(request), approve(request)],
      [approve(request), approve(request)],
      [approve(request), answer('c1', { confirmed: true })],
    ]) {
      await expect(say(runner, parts)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
    expect(run).not.toHaveBeenCalled()
    expect((await say(runner, [approve(request)])).text).toBe('done')
  })

  test('rejects a message with one known and one unknown answer', async () => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'] })
    const request = about((await say(runner)).pending)
    const parts = [approve(request), answer('nobody', { confirmed: true })]
    await expect(say(runner, parts)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(run).not.toHaveBeenCalled()
    expect(await runner.pending(where)).toHaveLength(1)
  })

  test('rejects text next to an answer and records nothing', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = process(store, { tools: [refund], steps: [refunds(5), 'done'] })
    const request = about((await say(runner)).pending)
    const before = await stored(store)
    for (const parts of [
      [{ text: 'yes' }, approve(request)],
      [approve(request), { text: 'yes' }],
    ]) {
      await expect(say(runner, parts)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
    expect(await stored(store)).toEqual(before)
    expect(run).not.toHaveBeenCalled()
  })

  test('rejects answers to two invocations in one message', async () => {
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), {
      tools: [refund, order],
      steps: [{ calls: [{ id: 'o1', name: 'order' }] }, refunds(5), 'refunded', 'ordered'],
    })
    await say(runner)
    const second = await say(runner, 'and a refund')
    const both = [approve(about(second.pending)), answer('o1', { box: 1 }, 'order')]
    await expect(say(runner, both)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(run).not.toHaveBeenCalled()
    expect((await say(runner, both.slice(0, 1))).text).toBe('refunded')
    expect((await say(runner, both.slice(1))).text).toBe('ordered')
  })

  describe('expired request [PR-13]', () => {
    async function asked(store: SessionService, more = {}) {
      let now = 1_000_000
      const { refund, run } = refundTool(more)
      const at = (steps: Parameters<typeof process>[1]['steps']) =>
        process(store, { tools: [refund], steps: steps ?? [], runner: { ports: { now: () => now } } }).runner
      const request: PendingRequest = about((await say(at([refunds(5)]))).pending)
      return { request, run, at, wait: (ms: number) => (now += ms) }
    }

    test('rejects the late answer with EXPIRED, records the denial, and the run can resume', async () => {
      const store = newStore()
      const { request, run, at, wait } = await asked(store)
      wait(DAY)
      for (let n = 0; n < 2; n++) {
        await expect(say(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      }
      expect(await at([]).pending()).toEqual([])
      const events = []
      for await (const event of at(['sorry']).resume(where)) events.push(event)
      expect(finals(events).c1).toEqual({
        error: 'tool call was rejected by the user: nobody answered in time',
        errorCode: 'CANCELLED',
      })
      expect(run).not.toHaveBeenCalled()
      await expect(say(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
    })

    test('is denied on resume without an answer', async () => {
      const { run, at, wait } = await asked(newStore())
      wait(DAY)
      const said: string[] = []
      for await (const { content } of at(['sorry']).resume(where)) said.push(content?.parts[0]?.text ?? '')
      expect(said.at(-1)).toBe('sorry')
      expect(run).not.toHaveBeenCalled()
    })

    test('is denied before new text is processed', async () => {
      const store = newStore()
      const { run, at, wait } = await asked(store)
      wait(DAY)
      const { text, events } = await say(at(['Nobody said yes.', 'Hello.']), 'hello?')
      expect(text).toBe('Hello.')
      expect(finals(events).c1).toMatchObject({ errorCode: 'CANCELLED' })
      expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(2)
      expect(run).not.toHaveBeenCalled()
      expect(await at([]).pending()).toEqual([])
    })

    test('is denied before new text also when a late answer has recorded the denial', async () => {
      const { request, run, at, wait } = await asked(newStore())
      wait(DAY)
      await expect(say(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      expect((await say(at(['Nobody said yes.', 'Hello.']), 'hello?')).text).toBe('Hello.')
      expect(run).not.toHaveBeenCalled()
    })

    test('accepts an answer one millisecond before a day has passed', async () => {
      const { request, run, at, wait } = await asked(newStore())
      wait(DAY - 1)
      expect((await say(at(['done']), [approve(request)])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    })

    test('uses expiresInMs of the tool', async () => {
      const { request, run, at, wait } = await asked(newStore(), { expiresInMs: 50 })
      wait(50)
      await expect(say(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      expect(run).not.toHaveBeenCalled()
    })

    test('stays expired when the clock is set back', async () => {
      const { request, run, at, wait } = await asked(newStore())
      wait(DAY)
      await expect(say(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      wait(-DAY)
      await expect(say(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      expect(run).not.toHaveBeenCalled()
    })

    test('does not expire a long-running call', async () => {
      let now = 0
      const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
      const steps = [{ calls: [{ id: 'o1', name: 'order' }] }, 'here']
      const { runner } = process(newStore(), { tools: [order], steps, runner: { ports: { now: () => now } } })
      await say(runner)
      now += 100 * DAY
      expect((await say(runner, [answer('o1', { box: 1 }, 'order')])).text).toBe('here')
    })
  })
})

test('records one denial for an expired request', async () => {
  let now = 0
  const { sessionService, appended } = openLog()
  const { refund } = refundTool()
  const story = { tools: [refund], runner: { ports: { now: () => now } } }
  const { pending } = await say(process(sessionService, { ...story, steps: [refunds(5)] }).runner)
  now += DAY
  const { runner } = process(sessionService, { ...story, steps: [] })
  for (let n = 0; n < 3; n++) {
    await expect(say(runner, [approve(about(pending))])).rejects.toMatchObject({ code: 'EXPIRED' })
  }
  const denials = appended.filter((one) => 'type' in one && one.type === 'denial')
  expect(denials).toEqual([
    expect.objectContaining({ requestId: about(pending).id, reason: 'nobody answered in time' }),
  ])
})

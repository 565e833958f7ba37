// Repeated and different answers to one request: the first answer counts, once.
import { approve, deny, longRunning, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { about, answer, process, refunds, refundTool, say, stored, stores, where } from './approvals-kit.ts'
import { signalled } from './kit.ts'

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
})

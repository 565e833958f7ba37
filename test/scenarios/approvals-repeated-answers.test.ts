// Repeated and different answers to one request: the first answer counts, once.
import { approve, deny, longRunning, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import {
  answerPart,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createDeferred } from './kit.ts'

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test('runs the call once after a hundred simultaneous submissions, and returns the same events to all [DG-06]', async () => {
    const store = newStore()
    const gate = createDeferred()
    const { refund, run } = refundTool()
    run.mockImplementation(async () => await gate.promise)
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    const others = Array.from({ length: 4 }, () => startProcess(store, { tools: [refund], steps: ['done'] }).runner)
    const sent = Array.from({ length: 100 }, (_one, at) =>
      sendMessage(others[at % 4] as never, [approve(requestFor(pending))]),
    )
    gate.resolve()
    const completions = await Promise.all(sent)
    expect(run).toHaveBeenCalledOnce()
    expect(new Set(completions.map(({ text }) => text))).toEqual(new Set(['done']))
    const given = (await storedEvents(store)).filter(({ content }) =>
      content?.parts.some((part) => part.functionResponse),
    )
    expect(given).toHaveLength(2) // one answer and one response
  })

  test.each(['by the request id', 'by the call id'])(
    'returns the events of the first answer when it is sent again, %s [PR-07]',
    async (how) => {
      const store = newStore()
      const { refund, run } = refundTool()
      const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done', 'later'] })
      const { pending } = await sendMessage(runner)
      const part = how.includes('call') ? answerPart('c1', { confirmed: true }) : approve(requestFor(pending))
      const first = await sendMessage(runner, [part])
      const before = await storedEvents(store)
      const elsewhere = startProcess(store, { tools: [refund], steps: [] })
      expect((await sendMessage(elsewhere.runner, [part])).events).toEqual(first.events)
      await sendMessage(runner, 'and then?')
      const again = await sendMessage(runner, [part])
      expect(again.events).toEqual(first.events)
      expect(again).toMatchObject({ text: 'done', pending: [], invocationId: first.invocationId })
      expect((await storedEvents(store)).slice(0, before.length)).toEqual(before)
      expect(run).toHaveBeenCalledOnce()
    },
  )

  test.each(['refund', 'adk_request_confirmation'])(
    'does not use an approval sent again by the call id (named %s) as the result of the long-running call',
    async (name) => {
      const { refund, run } = refundTool()
      run.mockReturnValue({ job: 7 })
      const { runner } = startProcess(newStore(), { tools: [longRunning(refund)], steps: [refundReply(5), 'done'] })
      await sendMessage(runner)
      const approval = { functionResponse: { id: 'c1', name, response: { confirmed: true } } }
      const { pending } = await sendMessage(runner, [approval])
      expect(requestFor(pending)).toMatchObject({ kind: 'longRunning', functionCallId: 'c1' })
      const again = sendMessage(runner, [approval])
      if (name === 'refund') await expect(again).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
      else expect((await again).pending).toEqual(pending)
      expect(await runner.pending()).toMatchObject([{ kind: 'longRunning', functionCallId: 'c1' }])
      const result = { result: { confirmed: true } }
      expect((await sendMessage(runner, [answerPart('c1', result)])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    },
  )

  test('rejects a different answer with ALREADY_ANSWERED, also after the invocation has completed [DG-06]', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done', 'later'] })
    const request = requestFor((await sendMessage(runner)).pending)
    await sendMessage(runner, [deny(request)])
    for (const late of [approve(request), approve(request, { payload: 1 }), deny(request, { reason: 'x' })]) {
      await expect(sendMessage(runner, [late])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    }
    await sendMessage(runner, 'next')
    await expect(sendMessage(runner, [approve(request)])).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
    await expect(sendMessage(runner, [answerPart('c1', { confirmed: true })])).rejects.toMatchObject({
      code: 'ALREADY_ANSWERED',
    })
    expect(run).not.toHaveBeenCalled()
  })

  test('rejects two answers to one request in one message', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const request = requestFor((await sendMessage(runner)).pending)
    for (const parts of [
      [deny(request), approve(request)],
      [approve(request), approve(request)],
      [approve(request), answerPart('c1', { confirmed: true })],
    ]) {
      await expect(sendMessage(runner, parts)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
    expect(run).not.toHaveBeenCalled()
    expect((await sendMessage(runner, [approve(request)])).text).toBe('done')
  })

  test('rejects a message with one known and one unknown answer', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const request = requestFor((await sendMessage(runner)).pending)
    const parts = [approve(request), answerPart('nobody', { confirmed: true })]
    await expect(sendMessage(runner, parts)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(run).not.toHaveBeenCalled()
    expect(await runner.pending(where)).toHaveLength(1)
  })

  test('rejects text next to an answer and records nothing', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done'] })
    const request = requestFor((await sendMessage(runner)).pending)
    const before = await storedEvents(store)
    for (const parts of [
      [{ text: 'yes' }, approve(request)],
      [approve(request), { text: 'yes' }],
    ]) {
      await expect(sendMessage(runner, parts)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
    expect(await storedEvents(store)).toEqual(before)
    expect(run).not.toHaveBeenCalled()
  })

  test('rejects answers to two invocations in one message', async () => {
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), {
      tools: [refund, order],
      steps: [{ calls: [{ id: 'o1', name: 'order' }] }, refundReply(5), 'refunded', 'ordered'],
    })
    await sendMessage(runner)
    const second = await sendMessage(runner, 'and a refund')
    const both = [approve(requestFor(second.pending)), answerPart('o1', { box: 1 }, 'order')]
    await expect(sendMessage(runner, both)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(run).not.toHaveBeenCalled()
    expect((await sendMessage(runner, both.slice(0, 1))).text).toBe('refunded')
    expect((await sendMessage(runner, both.slice(1))).text).toBe('ordered')
  })
})

// Answers that reach the wrong request: sent again, meant for another call, or malformed in the inbox.
import { approve, longRunning, type RunnerOptions, type SessionService, tool } from 'toolwright'
import type { InboxItem } from 'toolwright/store'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
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
import { readEvents } from './bounded-store.ts'
import { createDeferred, plainTool } from './kit.ts'

const yes = { confirmed: true }
const key = { appName: 'app', ...where }
const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ status: 'ordered' }) }))

/** Timers twenty times as short: a request is published soon although a sibling call still runs. */
const quick: Partial<RunnerOptions> = {
  ports: {
    setTimer: (callback, ms, options) => {
      const timer = setTimeout(callback, options?.background ? ms : ms / 20)
      if (options?.background) timer.unref()
      return () => clearTimeout(timer)
    },
  },
}

/** A body that works until the test lets it return. */
function workTool() {
  const begun = createDeferred()
  const letGo = createDeferred()
  const work = plainTool('work', async () => {
    begun.resolve()
    await letGo.promise
    return { worked: true }
  })
  return { work, begun, letGo }
}

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test.each(['after the first', 'at the same time'])(
    'does not approve the next request when an approval by call id is sent again %s',
    async (when) => {
      const wiped = vi.fn()
      const wipe = tool({
        name: 'wipe',
        description: 'Wipe the disks',
        requiresConfirmation: true,
        run: (_args, context) => {
          context.requestConfirmation({ hint: 'Really?' })
          wiped()
          return { wiped: true }
        },
      })
      const steps = [{ calls: [{ id: 'c1', name: 'wipe' }] }, 'done']
      const { runner } = startProcess(newStore(), { tools: [wipe], steps })
      await sendMessage(runner)
      const click = () => sendMessage(runner, [answerPart('c1', yes)])
      if (when === 'at the same time') await Promise.allSettled([click(), click()])
      else {
        await click()
        await expect(click()).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
      }
      expect(wiped).not.toHaveBeenCalled()
      const next = requestFor(await runner.pending())
      expect(next.hint).toBe('Really?')
      await sendMessage(runner, [approve(next)])
      expect(wiped).toHaveBeenCalledOnce()
    },
  )

  test('does not answer the next input request when an input by call id is sent again', async () => {
    const paid = vi.fn()
    const pay = plainTool('pay', (_args, context) => {
      const to = context.requestInput<string>({ key: 'to', message: 'To whom?' })
      const from = to && context.requestInput<string>({ key: 'from', message: 'From whom?' })
      if (from) paid(to, from)
      return {}
    })
    const { runner } = startProcess(newStore(), {
      tools: [pay],
      steps: [{ calls: [{ id: 'c1', name: 'pay' }] }, 'done'],
    })
    await sendMessage(runner)
    const iban = (id: string, value: string) =>
      sendMessage(runner, [answerPart(id, { result: value }, 'adk_request_input')])
    await iban('c1', 'DE1')
    await expect(iban('c1', 'DE1')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(paid).not.toHaveBeenCalled()
    await iban(requestFor(await runner.pending()).id, 'DE2')
    expect(paid).toHaveBeenCalledExactlyOnceWith('DE1', 'DE2')
  })

  test('does not approve a call with the same id in a later invocation when an approval is sent again', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), {
      tools: [refund],
      steps: [refundReply(5), 'one', refundReply(999), 'two'],
    })
    await sendMessage(runner)
    const first = await sendMessage(runner, [answerPart('c1', yes)])
    const { pending } = await sendMessage(runner, 'more')
    expect((await sendMessage(runner, [answerPart('c1', yes)])).events).toEqual(first.events) // the events of the first answer
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(await runner.pending()).toEqual(pending)
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('two')
    expect(run).toHaveBeenLastCalledWith({ amount: 999 })
  })

  test('requests another confirmation when beforeTool changes the arguments after an approval requested by the body', async () => {
    const paid = vi.fn()
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      parameters: z.object({ amount: z.number() }),
      run: ({ amount }, context) => {
        context.requestConfirmation({ hint: 'Really?', payload: { amount } })
        paid(amount)
        return { amount }
      },
    })
    let times = 0
    const { runner } = startProcess(newStore(), {
      tools: [pay],
      steps: [{ calls: [{ id: 'c1', name: 'pay', args: { amount: 5 } }] }, 'done'],
      agent: { beforeTool: () => (++times === 1 ? undefined : { args: { amount: 999 } }) },
    })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending).args).toEqual({ amount: 5 })
    const { pending: again } = await sendMessage(runner, [approve(requestFor(pending))])
    expect(paid).not.toHaveBeenCalled()
    expect(requestFor(again).args).toEqual({ amount: 999 })
    await sendMessage(runner, [approve(requestFor(again))])
    expect(paid).toHaveBeenCalledExactlyOnceWith(999)
  })

  test('requests another confirmation when the body shows another payload after the approval', async () => {
    const bought = vi.fn()
    let price = 5
    const buy = plainTool('buy', (_args, context) => {
      context.requestConfirmation({ hint: 'Buy at this price?', payload: { price } })
      bought(price)
      return { price }
    })
    const { runner } = startProcess(newStore(), {
      tools: [buy],
      steps: [{ calls: [{ id: 'c1', name: 'buy' }] }, 'done'],
    })
    const { pending } = await sendMessage(runner)
    price = 999
    const { pending: again } = await sendMessage(runner, [approve(requestFor(pending))])
    expect(bought).not.toHaveBeenCalled()
    expect(requestFor(again).payload).toEqual({ price: 999 })
    await sendMessage(runner, [approve(requestFor(again))])
    expect(bought).toHaveBeenCalledExactlyOnceWith(999)
  })

  test('keeps a result for one invocation from answering a call with the same id in another invocation', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), {
      tools: [refund, order],
      steps: [
        { calls: [{ id: 'a', name: 'order' }] },
        { calls: [{ id: 'call_1', name: 'order' }] },
        { calls: [{ id: 'call_1', name: 'refund', args: { amount: 5 } }] }, // the first invocation continues
        'ordered',
        'refunded',
      ],
    })
    await sendMessage(runner)
    await sendMessage(runner, 'another')
    await sendMessage(runner, [answerPart('a', { box: 1 }, 'order')])
    const pending = await runner.pending()
    expect(pending.map(({ tool: name }) => name).sort()).toEqual(['order', 'refund'])
    expect(new Set(pending.map(({ functionCallId }) => functionCallId)).size).toBe(2)
    const forTheOrder = [answerPart('call_1', { ...yes, by: 'the warehouse' }, 'order')]
    expect((await sendMessage(runner, forTheOrder)).text).toBe('ordered')
    expect(run).not.toHaveBeenCalled()
    expect((await sendMessage(runner, [approve(requestFor(await runner.pending()))])).text).toBe('refunded')
    expect(run).toHaveBeenCalledOnce()
  })

  test('ignores a result posted for a confirmation and uses a result posted for a long-running call', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const calls = [
      { id: 'c1', name: 'refund', args: { amount: 5 } },
      { id: 'c2', name: 'order' },
    ]
    const { runner } = startProcess(store, { tools: [refund, order], steps: [{ calls }, 'done'] })
    const { pending } = await sendMessage(runner)
    const question = requestFor(pending, 'c1').id
    for (const [at, callId] of ['c1', question, 'c2'].entries())
      await store.post(key, { id: `i${at}`, type: 'result', callId, response: yes })
    await readEvents(runner.resume(where))
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(await storedEvents(store))).toEqual({})
    expect((await runner.pending()).map(({ id }) => id)).toEqual([question])
    await sendMessage(runner, [answerPart(question, yes)])
    expect(run).toHaveBeenCalledOnce()
  })

  test('rejects one message with an answer by request id and by call id, and runs the call once after both', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const { id } = requestFor((await sendMessage(runner)).pending)
    const both = sendMessage(runner, [answerPart(id, yes), answerPart('c1', yes)])
    await expect(both).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(run).not.toHaveBeenCalled()
    await Promise.all([sendMessage(runner, [answerPart(id, yes)]), sendMessage(runner, [answerPart('c1', yes)])])
    expect(run).toHaveBeenCalledOnce()
  })

  test.each<[string, unknown]>([
    ['an answer without content', { type: 'answer' }],
    ['an answer without parts', { type: 'answer', content: {} }],
    ['an answer with a null part', { type: 'answer', content: { role: 'user', parts: [null] } }],
    ['an answer without a request', { type: 'answer', content: { role: 'user', parts: [] } }],
    ['an item of an unknown type', { type: 'hello' }],
    ['state without a delta', { type: 'state' }],
    ['a null state delta', { type: 'state', stateDelta: null }],
    ['a text as state delta', { type: 'state', stateDelta: 'abc' }],
    ['a result without a call', { type: 'result' }],
  ])('ignores %s in the inbox, and the session accepts the next message', async (_what, item) => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: ['hi', refundReply(5), 'done', 'more'] })
    await sendMessage(runner)
    await store.post(key, { id: 'i1', ...(item as object) } as InboxItem)
    const { pending } = await sendMessage(runner, 'pay')
    expect(run).not.toHaveBeenCalled()
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect((await sendMessage(runner, 'more')).text).toBe('more')
  })

  test('applies the state delta of an accepted answer and drops that of a rejected answer', async () => {
    const store = newStore()
    const { refund } = refundTool()
    const { work, begun, letGo } = workTool()
    const calls = [
      { id: 'c1', name: 'refund', args: { amount: 5 } },
      { id: 'c2', name: 'work' },
    ]
    const { runner } = startProcess(store, { tools: [refund, work], steps: [{ calls }, 'done'], runner: quick })
    const working = sendMessage(runner)
    await begun.promise
    const forged = runner.complete({ ...where, message: [answerPart('forged', yes)], stateDelta: { role: 'admin' } })
    await expect(forged).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const real = runner.complete({
      ...where,
      message: [approve(await publishedRequest(store))],
      stateDelta: { by: 'ada' },
    })
    await vi.waitFor(async () => expect(await store.pending({ appName: 'app' })).toEqual([])) // the answer is accepted
    letGo.resolve()
    await Promise.all([working, real])
    expect((await store.getSession(key))?.state).toEqual({ by: 'ada' })
  })

  test('uses an approval from the inbox after its sender stopped waiting', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { work, begun, letGo } = workTool()
    const calls = [
      { id: 'c1', name: 'refund', args: { amount: 5 } },
      { id: 'c2', name: 'work' },
    ]
    const tools = [refund, work]
    const holder = startProcess(store, { tools, steps: [{ calls }, 'done'], runner: quick }).runner
    const other = startProcess(store, { tools, steps: [], runner: quick }).runner
    const working = sendMessage(holder)
    await begun.promise
    const request = await publishedRequest(store)
    const post = vi.spyOn(store, 'post')
    const answering = other.run({ ...where, message: [approve(request)] })
    const senderEvents = readEvents(answering)
    await vi.waitFor(() => expect(post).toHaveResolved())
    await answering.cancel()
    expect(await senderEvents).toEqual([])
    letGo.resolve()
    expect(await working).toMatchObject({ text: 'done', pending: [] })
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(finalResponses(await storedEvents(store))).toEqual({ c1: { refunded: 5 }, c2: { worked: true } })
  })
})

/** The pending request, as soon as it is published; the sibling call still runs. */
async function publishedRequest(store: SessionService) {
  return await vi.waitFor(async () => requestFor(await store.pending({ appName: 'app' })), { timeout: 5_000 })
}

describe.each(stores)('an approval of a call that does not exist yet, %s', (_name, newStore) => {
  const key = { appName: 'app', ...where }
  const early = { role: 'user' as const, parts: [answerPart('c1', { confirmed: true })] }

  test('does not approve a later call with that id', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: ['hello', refundReply(5), 'done'] })
    await sendMessage(runner)
    await store.post(key, { id: 'i1', type: 'answer', content: early })
    const { pending } = await sendMessage(runner)
    expect(pending).toHaveLength(1)
    expect(run).not.toHaveBeenCalled()
    await sendMessage(runner, [approve(requestFor(pending))]) // the honest approval counts
    expect(run).toHaveBeenCalledOnce()
  })

  test('does not approve a later call after a busy session rejected the approval', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: ['hello', refundReply(5)] })
    await sendMessage(runner)
    const lease = await store.claim(key)
    const post = vi.spyOn(store, 'post')
    const sent = sendMessage(runner, early.parts).catch((error) => error.code)
    await vi.waitFor(() => expect(post).toHaveResolved())
    await store.release(lease)
    expect(await sent).toBe('NOT_FOUND')
    expect((await sendMessage(runner)).pending).toHaveLength(1)
    expect(run).not.toHaveBeenCalled()
  })
})

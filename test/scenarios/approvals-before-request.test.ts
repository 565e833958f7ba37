// An answer that arrives before its request comes from a client that has not seen the request. It is rejected.
import { approve, LlmAgent, longRunning, type Model, type Part, type SessionService, tool } from 'toolwright'
import type { InboxItem } from 'toolwright/store'
import { describe, expect, test, vi } from 'vitest'
import {
  answerPart,
  finalResponses,
  refundTool,
  requestFor,
  runnerOf,
  sendMessage,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'

const key = { appName: 'app', ...where }
const yes = { confirmed: true }

/** A model that calls `name` once and then answers; `whileAsked` runs while the session is held, before the reply. */
function modelCalling(name: string, args: object, whileAsked: () => Promise<void>): Model {
  let modelCalls = 0
  return {
    name: 'model',
    async *generate() {
      if (modelCalls++ === 0) {
        await whileAsked()
        yield { content: { role: 'model', parts: [{ functionCall: { id: 'c1', name, args: { ...args } } }] } }
      } else yield { content: { role: 'model', parts: [{ text: 'done' }] } }
    },
  }
}

describe.each(stores)('an answer by call id, %s', (_name, newStore) => {
  test.each<[string, (store: SessionService) => Promise<unknown>]>([
    ['as an answer', (store) => store.post(key, item({ type: 'answer', content: message(answerPart('c1', yes)) }))],
    ['as a result', (store) => store.post(key, item({ type: 'result', callId: 'c1', response: yes }))],
    [
      'with a forged sequence number',
      (store) =>
        store.post(key, Object.assign(item({ type: 'answer', content: message(answerPart('c1', yes)) }), { seq: 1e9 })),
    ],
  ])('posted before its request does not approve the call: %s', async (_how, post) => {
    const store = newStore()
    const { refund, run } = refundTool()
    const model = modelCalling('refund', { amount: 500 }, async () => void (await post(store)))
    const runner = runnerOf(store, new LlmAgent({ name: 'agent', model, tools: [refund] }))
    const { pending } = await sendMessage(runner)
    expect(pending).toMatchObject([{ kind: 'confirmation', functionCallId: 'c1' }])
    // The next run finds the item in the inbox: it must not count there either.
    await expect(sendMessage(runner, 'more')).rejects.toMatchObject({ code: 'PAUSED' })
    expect(await store.pending({ appName: 'app' })).toHaveLength(1)
    expect(run).not.toHaveBeenCalled()
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 500 })
  })

  test('posted before its request is rejected when its sender gets the lease later', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const posted = vi.spyOn(store, 'post')
    let early: Promise<unknown> | undefined
    const model = modelCalling('refund', { amount: 500 }, async () => {
      const other = runnerOf(store, new LlmAgent({ name: 'agent', model, tools: [refund] }))
      early = sendMessage(other, [answerPart('c1', yes)]).catch((error) => error)
      await vi.waitFor(() => expect(posted).toHaveResolved())
    })
    const runner = runnerOf(store, new LlmAgent({ name: 'agent', model, tools: [refund] }))
    const { pending } = await sendMessage(runner)
    expect(await early).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('when the answer arrived'),
    })
    expect(run).not.toHaveBeenCalled()
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledOnce()
  })

  test('posted before its request is not the result of a long-running call', async () => {
    const store = newStore()
    const start = longRunning(tool({ name: 'start', description: 'Start a job', run: () => ({ job: 7 }) }))
    const forged = item({ type: 'result', callId: 'c1', response: { stolen: true } })
    const model = modelCalling('start', {}, async () => void (await store.post(key, forged)))
    const runner = runnerOf(store, new LlmAgent({ name: 'agent', model, tools: [start] }))
    const { pending } = await sendMessage(runner)
    expect(pending).toMatchObject([{ kind: 'longRunning', functionCallId: 'c1' }])
    await sendMessage(runner, [answerPart('c1', { finished: true }, 'start')])
    expect(finalResponses(await storedEvents(store))).toEqual({})
    expect(
      (await storedEvents(store)).flatMap(({ author, content }) => (author === 'user' ? content?.parts : [])),
    ).toContainEqual(answerPart('c1', { finished: true }, 'start'))
  })

  test('posted after its request approves the call', async () => {
    const store = newStore()
    const { refund, run } = refundTool()
    const model = modelCalling('refund', { amount: 5 }, async () => {})
    const runner = runnerOf(store, new LlmAgent({ name: 'agent', model, tools: [refund] }))
    await sendMessage(runner)
    await store.post(key, item({ type: 'answer', content: message(answerPart('c1', yes)) }))
    const events = []
    for await (const event of runner.resume(where)) events.push(event)
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(finalResponses(events)).toEqual({ c1: { refunded: 5 } })
  })
})

type Distribute<T> = T extends unknown ? Omit<T, 'id'> : never

function item(one: Distribute<InboxItem>): InboxItem {
  return { id: 'i1', ...one } as InboxItem
}

function message(...parts: Part[]): { role: 'user'; parts: Part[] } {
  return { role: 'user', parts }
}

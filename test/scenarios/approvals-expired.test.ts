// Expired requests: a late answer is rejected, and the call is denied.
import { approve, longRunning, type PendingRequest, type SessionService, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import {
  answerPart,
  finalResponses,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  stores,
  where,
} from './approvals-kit.ts'
import { createRecordingStore } from './kit.ts'

const DAY = 24 * 60 * 60 * 1000

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  describe('a confirmation request [PR-13]', () => {
    async function requestConfirmation(store: SessionService, more = {}) {
      let now = 1_000_000
      const { refund, run } = refundTool(more)
      const at = (steps: Parameters<typeof startProcess>[1]['steps']) =>
        startProcess(store, { tools: [refund], steps: steps ?? [], runner: { ports: { now: () => now } } }).runner
      const request: PendingRequest = requestFor((await sendMessage(at([refundReply(5)]))).pending)
      return { request, run, at, wait: (ms: number) => (now += ms) }
    }

    test('that expired rejects the late answer with EXPIRED and records the denial, and the run can resume', async () => {
      const store = newStore()
      const { request, run, at, wait } = await requestConfirmation(store)
      wait(DAY)
      for (let n = 0; n < 2; n++) {
        await expect(sendMessage(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      }
      expect(await at([]).pending()).toEqual([])
      const events = []
      for await (const event of at(['sorry']).resume(where)) events.push(event)
      expect(finalResponses(events).c1).toEqual({
        error: 'tool call was rejected by the user: the request expired without an answer',
        errorCode: 'CANCELLED',
      })
      expect(run).not.toHaveBeenCalled()
      await expect(sendMessage(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
    })

    test('that expired is denied on resume without an answer', async () => {
      const { run, at, wait } = await requestConfirmation(newStore())
      wait(DAY)
      const texts: string[] = []
      for await (const { content } of at(['sorry']).resume(where)) texts.push(content?.parts[0]?.text ?? '')
      expect(texts.at(-1)).toBe('sorry')
      expect(run).not.toHaveBeenCalled()
    })

    test('that expired is denied before new text is processed', async () => {
      const store = newStore()
      const { run, at, wait } = await requestConfirmation(store)
      wait(DAY)
      const { text, events } = await sendMessage(at(['The request expired.', 'Hello.']), 'hello?')
      expect(text).toBe('Hello.')
      expect(finalResponses(events).c1).toMatchObject({ errorCode: 'CANCELLED' })
      expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(2)
      expect(run).not.toHaveBeenCalled()
      expect(await at([]).pending()).toEqual([])
    })

    test('that expired is denied before new text also when a late answer has recorded the denial', async () => {
      const { request, run, at, wait } = await requestConfirmation(newStore())
      wait(DAY)
      await expect(sendMessage(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      expect((await sendMessage(at(['The request expired.', 'Hello.']), 'hello?')).text).toBe('Hello.')
      expect(run).not.toHaveBeenCalled()
    })

    test('accepts its answer one millisecond before a day has passed', async () => {
      const { request, run, at, wait } = await requestConfirmation(newStore())
      wait(DAY - 1)
      expect((await sendMessage(at(['done']), [approve(request)])).text).toBe('done')
      expect(run).toHaveBeenCalledOnce()
    })

    test('expires after expiresInMs of the tool', async () => {
      const { request, run, at, wait } = await requestConfirmation(newStore(), { expiresInMs: 50 })
      wait(50)
      await expect(sendMessage(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      expect(run).not.toHaveBeenCalled()
    })

    test('stays expired when the clock is set back', async () => {
      const { request, run, at, wait } = await requestConfirmation(newStore())
      wait(DAY)
      await expect(sendMessage(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      wait(-DAY)
      await expect(sendMessage(at([]), [approve(request)])).rejects.toMatchObject({ code: 'EXPIRED' })
      expect(run).not.toHaveBeenCalled()
    })
  })

  test('accepts the result of a long-running call after 100 days', async () => {
    let now = 0
    const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 1 }) }))
    const steps = [{ calls: [{ id: 'o1', name: 'order' }] }, 'here']
    const { runner } = startProcess(newStore(), { tools: [order], steps, runner: { ports: { now: () => now } } })
    await sendMessage(runner)
    now += 100 * DAY
    expect((await sendMessage(runner, [answerPart('o1', { box: 1 }, 'order')])).text).toBe('here')
  })
})

test('the runner records one denial for an expired request', async () => {
  let now = 0
  const { sessionService, appended } = createRecordingStore()
  const { refund } = refundTool()
  const story = { tools: [refund], runner: { ports: { now: () => now } } }
  const { pending } = await sendMessage(startProcess(sessionService, { ...story, steps: [refundReply(5)] }).runner)
  now += DAY
  const { runner } = startProcess(sessionService, { ...story, steps: [] })
  for (let n = 0; n < 3; n++) {
    await expect(sendMessage(runner, [approve(requestFor(pending))])).rejects.toMatchObject({ code: 'EXPIRED' })
  }
  const denials = appended.filter((one) => 'type' in one && one.type === 'denial')
  expect(denials).toEqual([
    expect.objectContaining({ requestId: requestFor(pending).id, reason: 'the request expired without an answer' }),
  ])
})

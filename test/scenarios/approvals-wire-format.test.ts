// The wire format of pending requests: what clients see, and which records they never see.
import { approve, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  historyProblems,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createRecordingStore } from './kit.ts'

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test('yields a confirmation as one event after the call, in the shape of ADK', async () => {
    const { refund } = refundTool({ confirmationHint: () => 'Really?' })
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5)] })
    const { events, invocationId, pending } = await sendMessage(runner)
    expect(events).toHaveLength(2)
    const { id } = requestFor(pending)
    const toolConfirmation = { hint: 'Really?', confirmed: false }
    expect(events[1]).toEqual({
      id: expect.any(String),
      timestamp: expect.any(Number),
      invocationId,
      author: 'agent',
      nodeInfo: { path: 'agent' },
      longRunningToolIds: [id],
      content: {
        role: 'model',
        parts: [
          {
            functionCall: {
              id,
              name: 'adk_request_confirmation',
              args: {
                originalFunctionCall: { id: 'c1', name: 'refund', args: { amount: 5 } },
                toolConfirmation,
              },
            },
          },
        ],
      },
      actions: { skipSummarization: true, requestedToolConfirmations: { c1: toolConfirmation } },
    })
    expect(id).not.toBe('c1')
    expect(pending).toEqual([
      {
        id,
        kind: 'confirmation',
        ...where,
        invocationId,
        functionCallId: 'c1',
        tool: 'refund',
        args: { amount: 5 },
        hint: 'Really?',
        agent: 'agent',
        createdAt: expect.any(Number),
        expiresAt: expect.any(Number),
      },
    ])
    expect((pending[0]?.expiresAt ?? 0) - (pending[0]?.createdAt ?? 0)).toBeCloseTo(24 * 60 * 60)
  })

  test('yields the confirmations of one batch in one event, in call order', async () => {
    const { refund } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5, 6)] })
    const { events, pending } = await sendMessage(runner)
    expect(events[1]?.longRunningToolIds).toEqual(pending.map(({ id }) => id))
    expect(Object.keys(events[1]?.actions.requestedToolConfirmations ?? {})).toEqual(['c1', 'c2'])
  })

  test('shows the payload of a confirmation and the schema of an input requested by a body', async () => {
    const book = tool({
      name: 'book',
      description: 'Book a room',
      run: (_args, context) => {
        context.requestInput({ key: 'nights', message: 'How many nights?', schema: z.number() })
        context.requestConfirmation({ hint: 'Book?', payload: { room: 7 } })
      },
    })
    const { runner } = startProcess(newStore(), { tools: [book], steps: [{ calls: [{ id: 'c1', name: 'book' }] }] })
    const { events, pending } = await sendMessage(runner)
    const [second, first] = events[1]?.content?.parts ?? []
    expect(first?.functionCall?.args).toEqual({
      originalFunctionCall: { id: 'c1', name: 'book', args: {} },
      toolConfirmation: { hint: 'Book?', confirmed: false, payload: { room: 7 } },
    })
    expect(second?.functionCall).toMatchObject({
      name: 'adk_request_input',
      args: { message: 'How many nights?', response_schema: { type: 'number' } },
    })
    expect(pending).toMatchObject([
      { kind: 'input', key: 'nights', schema: { type: 'number' }, hint: 'How many nights?' },
      { kind: 'confirmation', payload: { room: 7 }, hint: 'Book?' },
    ])
  })

  test('shows the model the call and its response, and neither request nor answer', async () => {
    const store = newStore()
    const { refund } = refundTool()
    const { runner, model } = startProcess(store, { tools: [refund], steps: [refundReply(5), 'done', 'again'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending))])
    await sendMessage(runner, 'and now?')
    for (const { contents } of model.requests) expect(historyProblems(contents)).toEqual([])
    expect(model.requests[2]?.contents.map(({ role }) => role)).toEqual(['user', 'model', 'tool', 'model', 'user'])
    const answers = (await storedEvents(store)).filter(({ content }) => content?.role === 'user')
    expect(answers[1]?.content?.parts).toEqual([
      {
        functionResponse: {
          id: requestFor(pending).id,
          name: 'adk_request_confirmation',
          response: { confirmed: true },
        },
      },
    ])
  })

  test('stores a confirmation event before yielding it, with and without streaming', async () => {
    const store = newStore()
    const { refund } = refundTool()
    const { runner } = startProcess(store, { tools: [refund], steps: [{ text: 'One moment.', ...refundsOf(5) }] })
    const names: string[] = []
    for await (const event of runner.run({ ...where, message: 'go', runConfig: { streaming: true } })) {
      if (event.partial) continue
      expect((await storedEvents(store)).some(({ id }) => id === event.id)).toBe(true)
      names.push(...(event.content?.parts.flatMap(({ functionCall }) => functionCall?.name ?? []) ?? []))
    }
    expect(names).toEqual(['refund', 'adk_request_confirmation'])
  })
})

test('the request record is bound to the call, its arguments and the tool definition, and is never yielded', async () => {
  const { sessionService, appended } = createRecordingStore()
  const { refund } = refundTool()
  const { runner } = startProcess(sessionService, { tools: [refund], steps: [refundReply(5)] })
  const { events, invocationId } = await sendMessage(runner)
  const record = appended.find((one) => 'type' in one && one.type === 'request')
  expect(record).toMatchObject({
    invocationId,
    path: 'agent',
    callId: 'c1',
    kind: 'confirmation',
    origin: 'gate',
    args: { amount: 5 },
    definition: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(JSON.stringify(events)).not.toContain('definition')
  expect(JSON.stringify(await storedEvents(sessionService))).not.toContain('definition')
})

function refundsOf(amount: number): { calls: { id: string; name: string; args: { amount: number } }[] } {
  return { calls: [{ id: 'c1', name: 'refund', args: { amount } }] }
}

// The question about edited arguments: what the approver is asked, what the log holds and what the body reads are the same.
import {
  agentTool,
  approve,
  InMemorySessionService,
  LlmAgent,
  type SessionService,
  StaticToolset,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  answerPart,
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
import { startStrict } from './live-calls-kit.ts'

/** A refund whose question names the amount, and the questions that its body has read. */
function askingRefund(hint = ({ amount }: { amount: number }): string => `Refund ${amount} EUR?`) {
  const read: (string | undefined)[] = []
  const refund = tool({
    name: 'refund',
    description: 'Refund money',
    parameters: z.object({ amount: z.number(), note: z.string().default('none') }),
    requiresConfirmation: true,
    allowEditedArgs: true,
    confirmationHint: hint,
    run: ({ amount }, context) => {
      read.push(context.toolConfirmation?.hint)
      return { refunded: amount }
    },
  })
  return { refund, read }
}

/** The recorded answers to confirmations. */
async function answersIn(store: SessionService): Promise<unknown[]> {
  const events = await storedEvents(store)
  return events.flatMap(({ author, content }) =>
    author === 'user' ? (content?.parts ?? []).flatMap((part) => part.functionResponse?.response ?? []) : [],
  )
}

describe.each(stores)('the question about edited arguments, with sessions %s', (_name, newStore) => {
  test('the approver of 200 is asked about 200, and so are the log and the body', async () => {
    const store = newStore()
    const { refund, read } = askingRefund()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(250), 'done'] })
    const request = requestFor((await sendMessage(runner)).pending)
    expect(request.hint).toBe('Refund 250 EUR?')
    const before = JSON.stringify(await storedEvents(store))
    const preview = await runner.previewApproval({ ...where, requestId: request.id, args: { amount: 200 } })
    expect(preview).toEqual({ hint: 'Refund 200 EUR?', args: { amount: 200, note: 'none' } })
    expect(JSON.stringify(await storedEvents(store))).toBe(before)
    expect(await runner.pending()).toEqual([request])

    await sendMessage(runner, [approve(request, { args: { amount: 200 } })])
    expect(read).toEqual(['Refund 200 EUR?'])
    expect(await answersIn(store)).toEqual([{ confirmed: true, args: { amount: 200 }, hint: 'Refund 200 EUR?' }])
  })

  test('an approval without edits keeps the question of its request', async () => {
    const store = newStore()
    const { refund, read } = askingRefund()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(250), 'done'] })
    await sendMessage(runner, [approve(requestFor((await sendMessage(runner)).pending))])
    expect(read).toEqual(['Refund 250 EUR?'])
    expect(await answersIn(store)).toEqual([{ confirmed: true }])
  })

  test.each([
    ['with edits', { confirmed: true, args: { amount: 200 }, hint: 'Refund 1 EUR?' }, 'Refund 200 EUR?'],
    ['with the first question', { confirmed: true, args: { amount: 200 }, hint: 'Refund 250 EUR?' }, 'Refund 200 EUR?'],
    ['in a wrapper', { toolConfirmation: { confirmed: true, args: { amount: 200 }, hint: 'x' } }, 'Refund 200 EUR?'],
    ['as text', { response: '{"confirmed":true,"args":{"amount":200},"hint":"x"}' }, 'Refund 200 EUR?'],
    ['without edits', { confirmed: true, hint: 'Refund 1 EUR?' }, 'Refund 250 EUR?'],
  ])('does not record a question that a client made up, %s', async (_what, response, hint) => {
    const store = newStore()
    const { refund, read } = askingRefund()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(250), 'done'] })
    const { id } = requestFor((await sendMessage(runner)).pending)
    await sendMessage(runner, [answerPart(id, response)])
    expect(read).toEqual([hint])
    expect(await answersIn(store)).toMatchObject([{ confirmed: true, hint }])
  })

  test('the same edited approval again runs nothing and yields the stored events', async () => {
    const store = newStore()
    const { refund, read } = askingRefund()
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(250), 'done'] })
    const request = requestFor((await sendMessage(runner)).pending)
    const answer = approve(request, { args: { amount: 200 } })
    const first = await sendMessage(runner, [answer])
    const again = await sendMessage(runner, [answer])
    expect(again.events).toEqual(first.events)
    expect(read).toHaveLength(1)
    const other = sendMessage(runner, [approve(request, { args: { amount: 201 } })])
    await expect(other).rejects.toMatchObject({ code: 'ALREADY_ANSWERED' })
  })

  test('another process previews and approves', async () => {
    const store = newStore()
    const first = startProcess(store, { tools: [askingRefund().refund], steps: [refundReply(250)] })
    const request = requestFor((await sendMessage(first.runner)).pending)
    const { refund, read } = askingRefund()
    const second = startProcess(store, { tools: [refund], steps: ['done'] })
    const edit = { ...where, requestId: request.id, args: { amount: 7 } }
    expect((await second.runner.previewApproval(edit)).hint).toBe('Refund 7 EUR?')
    await sendMessage(second.runner, [approve(request, { args: { amount: 7 } })])
    expect(read).toEqual(['Refund 7 EUR?'])
  })
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no rate')
    },
  ],
  ['returns no text', () => undefined as unknown as string],
  ['returns a promise', () => Promise.reject(new Error('late')) as unknown as string],
])('asks the default question when the hint of edited arguments %s', async (_what, fail) => {
  const store = new InMemorySessionService()
  const { refund, read } = askingRefund(({ amount }) => (amount === 250 ? 'Refund 250 EUR?' : fail()))
  const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(250), 'done'] })
  const request = requestFor((await sendMessage(runner)).pending)
  const edit = { ...where, requestId: request.id, args: { amount: 200 } }
  expect((await runner.previewApproval(edit)).hint).toBe('Approve execution of tool `refund`?')
  await sendMessage(runner, [approve(request, { args: { amount: 200 } })])
  expect(read).toEqual(['Approve execution of tool `refund`?'])
  expect(JSON.stringify((await answersIn(store))[0])).not.toContain('250')
})

test('asks the default question when the validator of edited arguments hangs', async () => {
  const store = new InMemorySessionService()
  const { refund, run } = refundTool({ allowEditedArgs: true, confirmationHint: () => 'Refund?' })
  const { parse } = refund
  let parses = 0
  const hang = { ...refund, parse: (args: unknown) => (++parses === 2 ? new Promise<never>(() => {}) : parse?.(args)) }
  let isAnswering = false
  const setTimer = (callback: () => void, ms: number): (() => void) => {
    if (isAnswering && ms === 5_000) setImmediate(callback) // the deadline of the question
    return () => {}
  }
  const { runner } = startProcess(store, {
    tools: [hang as typeof refund],
    steps: [refundReply(250), 'done'],
    runner: { ports: { setTimer } },
  })
  const request = requestFor((await sendMessage(runner)).pending)
  isAnswering = true
  await sendMessage(runner, [approve(request, { args: { amount: 200 } })])
  expect(parses).toBeGreaterThan(2)
  expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 200 })
  expect(await answersIn(store)).toMatchObject([{ hint: 'Approve execution of tool `refund`?' }])
})

test('previews the call of an agent inside an agent tool, and of a tool that a toolset lists', async () => {
  const { refund, read } = askingRefund()
  const inner = new LlmAgent({
    name: 'desk', // an agent of this name is also outside, with another tool "refund"
    model: scriptedModel([refundReply(250), 'refunded']),
    tools: [new StaticToolset([refund])],
  })
  const outer = new LlmAgent({
    name: 'agent',
    model: scriptedModel([{ calls: [{ id: 'o1', name: 'desk', args: { request: 'go' } }] }, 'done']),
    tools: [agentTool(inner)],
    subAgents: [
      new LlmAgent({ name: 'desk', model: scriptedModel([]), tools: [askingRefund(() => 'Wrong tool').refund] }),
    ],
  })
  const store = new InMemorySessionService()
  const runner = runnerOf(store, outer)
  const request = requestFor((await sendMessage(runner)).pending)
  const edit = { ...where, requestId: request.id, args: { amount: 200 } }
  expect((await runner.previewApproval(edit)).hint).toBe('Refund 200 EUR?')
  await sendMessage(runner, [approve(request, { args: { amount: 200 } })])
  expect(read).toEqual(['Refund 200 EUR?'])
})

test('records the question of an approval that is posted to the run that holds the session', async () => {
  const store = new InMemorySessionService()
  const { refund, read } = askingRefund()
  const begun = createDeferred()
  const letGo = createDeferred()
  const slow = tool({
    name: 'slow',
    description: 'Slow',
    run: async () => {
      begun.resolve()
      await letGo.promise
    },
  })
  const calls = [{ id: 'c1', name: 'refund', args: { amount: 250 } }, { name: 'slow' }]
  const { runner } = startProcess(store, { tools: [refund, slow], steps: [{ calls }, 'done'] })
  const working = sendMessage(runner)
  await begun.promise
  const request = await vi.waitFor(async () => requestFor(await runner.pending()), 10_000)
  const edit = { ...where, requestId: request.id, args: { amount: 200 } }
  expect((await runner.previewApproval(edit)).hint).toBe('Refund 200 EUR?')
  const other = startProcess(store, { tools: [askingRefund().refund, slow], steps: [] }).runner
  const answering = sendMessage(other, [approve(request, { args: { amount: 200 } })])
  await vi.waitFor(async () => expect(await runner.pending()).toEqual([]), 15_000)
  letGo.resolve()
  await Promise.all([working, answering])
  expect(read).toEqual(['Refund 200 EUR?'])
  expect(await answersIn(store)).toMatchObject([{ args: { amount: 200 }, hint: 'Refund 200 EUR?' }])
})

test('records the question of edited arguments in a live session', async () => {
  const { refund, read } = askingRefund()
  const { connection, session, event } = await startStrict({
    tools: [refund],
    confirmationProvider: () => new Promise(() => {}), // the approver answers elsewhere
  })
  connection.call([{ id: 'c1', name: 'refund', args: { amount: 250 } }])
  const { request } = await event('request')
  expect(request.hint).toBe('Refund 250 EUR?')
  await session.answer(approve(request, { args: { amount: 200 } }))
  await vi.waitFor(() => expect(read).toEqual(['Refund 200 EUR?']))
})

test.each([[{}], [{ hint: 'Refund 250 EUR?' }]])(
  'the body reads the right question in a log of an earlier version %j',
  async (more) => {
    const store = new InMemorySessionService()
    const { runner } = startProcess(store, { tools: [askingRefund().refund], steps: [refundReply(250)] })
    const { id, invocationId } = requestFor((await sendMessage(runner)).pending)
    const lease = await store.claim({ appName: 'app', ...where })
    const { entries } = await store.read(lease)
    const parts = [answerPart(id, { confirmed: true, args: { amount: 200 }, ...more })]
    const content = { role: 'user' as const, parts }
    const event = { id: 'answer-1', invocationId, author: 'user', timestamp: 1, actions: {}, content }
    await store.append(lease, entries.at(-1)?.seq ?? 0, [{ event }], { pending: { opened: [], closed: 'all' } })
    await store.release(lease, { interrupted: true })
    const { refund, read } = askingRefund()
    const second = startProcess(store, { tools: [refund], steps: ['done'] })
    for await (const _ of second.runner.resume(where));
    expect(read).toEqual(['Refund 200 EUR?'])
  },
)

test('previews in a store that shows no records', async () => {
  const store = new InMemorySessionService()
  Object.defineProperty(store, 'readLog', { value: undefined })
  const { runner } = startProcess(store, { tools: [askingRefund().refund], steps: [refundReply(250)] })
  const request = requestFor((await sendMessage(runner)).pending)
  const edit = { ...where, requestId: request.id, args: { amount: 200 } }
  expect((await runner.previewApproval(edit)).hint).toBe('Refund 200 EUR?')
})

describe('runner.previewApproval()', () => {
  test('refuses what an approval would be refused for', async () => {
    const store = new InMemorySessionService()
    const even = z.object({ amount: z.number().refine((amount) => amount % 2 === 0, 'must be even') })
    const run = vi.fn()
    const pay = tool({
      name: 'refund',
      description: 'd',
      parameters: even,
      requiresConfirmation: true,
      allowEditedArgs: true,
      run,
    })
    const { runner } = startProcess(store, { tools: [pay], steps: [refundReply(4), 'done'] })
    const request = requestFor((await sendMessage(runner)).pending)
    const edit = { ...where, requestId: request.id, args: { amount: 2 } }
    const preview = (more: object): Promise<unknown> => runner.previewApproval({ ...edit, ...more })
    await expect(preview({ args: { amount: 'x' } })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(preview({ args: { amount: 3 } })).rejects.toThrow('must be even')
    await expect(preview({ args: undefined })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(preview({ args: [1] })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(preview({ requestId: 'other' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(preview({ userId: 'eve' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(preview({ sessionId: 'other' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await preview({})).toEqual({ hint: 'Approve execution of tool `refund`?', args: { amount: 2 } })
    await sendMessage(runner, [approve(request)])
    await expect(preview({})).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(run).toHaveBeenCalledOnce()
  })

  test('refuses a request that is not editable', async () => {
    const { refund } = refundTool()
    const { runner } = startProcess(new InMemorySessionService(), { tools: [refund], steps: [refundReply(5)] })
    const { id } = requestFor((await sendMessage(runner)).pending)
    const preview = runner.previewApproval({ ...where, requestId: id, args: { amount: 4 } })
    await expect(preview).rejects.toThrow('does not accept edited arguments')
  })
})

// Edited arguments of an approval run, or nothing runs: the call never falls back to the model's arguments.
import { approve, type BeforeTool, tool } from 'toolwright'
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
} from './approvals-kit.ts'

const yes = { confirmed: true }

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test.each([
    ['a string', { ...yes, args: '{"amount":5}' }],
    ['an array', { ...yes, args: [{ amount: 5 }] }],
    ['a number', { ...yes, args: 5 }],
    ['null', { ...yes, args: null }],
    ['a string in a wrapped decision', { toolConfirmation: { ...yes, args: '{"amount":5}' } }],
    ['a string in a decision sent as text', { response: JSON.stringify({ ...yes, args: '{"amount":5}' }) }],
    ['a misspelled field', { ...yes, arguments: { amount: 5 } }],
    ['another misspelled field', { ...yes, editedArgs: { amount: 5 } }],
    ['an object beside a wrapped decision', { toolConfirmation: yes, args: { amount: 5 } }],
    ['a second decision', { ...yes, toolConfirmation: { confirmed: false } }],
    ['two wrapped decisions', { toolConfirmation: yes, response: { confirmed: false } }],
  ])('rejects an approval whose edited arguments are %s', async (_what, response) => {
    for (const allowEditedArgs of [true, false]) {
      const { refund, run } = refundTool({ allowEditedArgs })
      const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(500), 'done'] })
      const { pending } = await sendMessage(runner)
      const sent = sendMessage(runner, [answerPart(requestFor(pending).id, response)])
      await expect(sent).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
      expect(run).not.toHaveBeenCalled()
      expect(await runner.pending()).toEqual(pending) // still open
    }
  })

  test('runs the edited arguments of an approval', async () => {
    const { refund, run } = refundTool({ allowEditedArgs: true })
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(500), 'done'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending), { args: { amount: 5 } })])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
  })

  test('ignores edited arguments of a denial', async () => {
    const store = newStore()
    const { refund, run } = refundTool({ allowEditedArgs: true })
    const { runner } = startProcess(store, { tools: [refund], steps: [refundReply(500), 'done'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [answerPart(requestFor(pending).id, { confirmed: false, args: 'whatever' })])
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(await storedEvents(store))).toMatchObject({ c1: { errorCode: 'CANCELLED' } })
  })

  test('requests another confirmation when allowEditedArgs was removed after an edited approval', async () => {
    const store = newStore()
    const before = refundTool({ allowEditedArgs: true })
    const first = startProcess(store, { tools: [before.refund], steps: [refundReply(500)] })
    const { pending } = await sendMessage(first.runner)
    // The approval is recorded, and the process ends before running the call: the model is not asked again.
    const lease = await store.claim({ appName: 'app', userId: 'ada', sessionId: 's1' })
    const { entries } = await store.read(lease)
    const { id } = requestFor(pending)
    const edited = {
      functionResponse: { id, name: 'adk_request_confirmation', response: { ...yes, args: { amount: 5 } } },
    }
    const event = {
      id: 'answer-1',
      invocationId: requestFor(pending).invocationId,
      author: 'user',
      timestamp: 1,
      actions: {},
      content: { role: 'user' as const, parts: [edited] },
    }
    await store.append(lease, entries.at(-1)?.seq ?? 0, [{ event }], { pending: { opened: [], closed: 'all' } })
    await store.release(lease, { interrupted: true })

    const after = refundTool()
    const second = startProcess(store, { tools: [after.refund], steps: ['done'] })
    for await (const _ of second.runner.resume({ userId: 'ada', sessionId: 's1' }));
    expect(after.run).not.toHaveBeenCalled()
    const [again] = await second.runner.pending()
    expect(again?.args).toEqual({ amount: 500 })
    expect(again?.hint).toContain('It no longer accepts edited arguments.')
    await sendMessage(second.runner, [approve(requestFor(await second.runner.pending()))])
    expect(after.run).toHaveBeenCalledExactlyOnceWith({ amount: 500 })
  })

  test('runs an approval without edits after a restart with the same tool', async () => {
    const store = newStore()
    const { pending } = await sendMessage(
      startProcess(store, { tools: [refundTool({ allowEditedArgs: true }).refund], steps: [refundReply(5)] }).runner,
    )
    const after = refundTool({ allowEditedArgs: true })
    await sendMessage(startProcess(store, { tools: [after.refund], steps: ['done'] }).runner, [
      approve(requestFor(pending)),
    ])
    expect(after.run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
  })

  test('runs edited arguments when the tool has allowEditedArgs, and tells the model about them', async () => {
    const store = newStore()
    const { refund, run } = refundTool({ allowEditedArgs: true })
    const { runner, model } = startProcess(store, { tools: [refund], steps: [refundReply(500), 'done'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending), { args: { amount: 50 } })])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 50 })
    const [, call, response] = model.requests[1]?.contents ?? []
    expect(call?.parts[0]?.functionCall?.args).toEqual({ amount: 500 })
    expect(response?.parts[0]?.functionResponse?.response).toEqual({ refunded: 50, editedArgs: { amount: 50 } })
  })

  test('rejects edited arguments without allowEditedArgs and keeps the request pending', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(500), 'done'] })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending).editable).toBeUndefined()
    const edited = sendMessage(runner, [approve(requestFor(pending), { args: { amount: 5 } })])
    await expect(edited).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('edited'),
    })
    expect(run).not.toHaveBeenCalled()
    expect(await runner.pending()).toEqual(pending)
    await sendMessage(runner, [approve(requestFor(pending))])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 500 })
  })

  test('rejects edited arguments that the schema does not accept and keeps the request pending', async () => {
    const { refund, run } = refundTool({ allowEditedArgs: true })
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    expect(requestFor(pending)).toMatchObject({ editable: true, schema: { required: ['amount'] } })
    const edited = sendMessage(runner, [approve(requestFor(pending), { args: { amount: 'all' } })])
    await expect(edited).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('amount'),
    })
    expect(run).not.toHaveBeenCalled()
    await sendMessage(runner, [approve(requestFor(pending), { args: { amount: 4 } })])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 4 })
  })

  test("answers INVALID_ARGS with editedArgs when only the tool's own validation fails", async () => {
    const run = vi.fn()
    const even = tool({
      name: 'refund',
      description: 'Refund',
      parameters: z.object({ amount: z.number().refine((amount) => amount % 2 === 0, 'even') }),
      requiresConfirmation: true,
      allowEditedArgs: true,
      run,
    })
    const { runner } = startProcess(newStore(), { tools: [even], steps: [refundReply(4), 'done'] })
    const { pending } = await sendMessage(runner)
    const { events } = await sendMessage(runner, [approve(requestFor(pending), { args: { amount: 5 } })])
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(events).c1).toMatchObject({ errorCode: 'INVALID_ARGS', editedArgs: { amount: 5 } })
  })

  test('does not run edited arguments that beforeTool refuses', async () => {
    const { refund, run } = refundTool({ allowEditedArgs: true })
    const beforeTool: BeforeTool = ({ args }) =>
      Number(args.amount) > 100 ? { result: { error: 'over the limit' } } : undefined
    const { runner } = startProcess(newStore(), {
      tools: [refund],
      steps: [refundReply(5), 'done'],
      agent: { beforeTool },
    })
    const { pending } = await sendMessage(runner)
    const { events } = await sendMessage(runner, [approve(requestFor(pending), { args: { amount: 5000 } })])
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(events).c1).toMatchObject({ error: 'over the limit' })
  })
})

// Which answers approve a confirmation: only those with a literal `confirmed: true`.
import { approve, deny, respond, type ToolConfirmation, tool } from 'toolwright'
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
} from './approvals-kit.ts'

const yes = { confirmed: true }
const accepted: [string, unknown][] = [
  ['{ confirmed: true }', yes],
  ['{ confirmed: true } inside toolConfirmation', { toolConfirmation: yes }],
  ['{ confirmed: true } inside response', { response: yes }],
  ['JSON inside response', { response: JSON.stringify(yes) }],
  ['JSON inside toolConfirmation', { toolConfirmation: JSON.stringify(yes) }],
  ['JSON text', JSON.stringify(yes)],
  ['{ confirmed: true } with payload and hint', { confirmed: true, payload: { amount: 5 }, hint: 'x' }],
]
const refused: [string, unknown][] = [
  ['confirmed: "true"', { confirmed: 'true' }],
  ['confirmed: "false"', { confirmed: 'false' }],
  ['confirmed: 1', { confirmed: 1 }],
  ['confirmed: {}', { confirmed: {} }],
  ['confirmed: [true]', { confirmed: [true] }],
  ['confirmed: null', { confirmed: null }],
  ['{}', {}],
  ['[]', []],
  ['null', null],
  ['a bare true', true],
  ['the text "yes"', 'yes'],
  ['broken JSON', { response: '{"confirmed":tru' }],
  ['JSON encoded twice', { response: JSON.stringify(JSON.stringify(yes)) }],
  ['confirmed on __proto__', JSON.parse('{"__proto__":{"confirmed":true}}')],
  ['a decision nested twice', { response: { response: yes } }],
  ['an invalid decision around an approval', { confirmed: 'no', toolConfirmation: yes }],
]

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test.each(accepted)('approves the call for %s [DG-10]', async (_name, response) => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    const { text } = await sendMessage(runner, [answerPart(requestFor(pending).id, response)])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(text).toBe('done')
  })

  test.each(refused)('denies the call with a reason for %s [DG-10]', async (_name, response) => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    const { text, events } = await sendMessage(runner, [answerPart(requestFor(pending).id, response)])
    expect(run).not.toHaveBeenCalled()
    expect(finalResponses(events).c1).toEqual({
      error: 'tool call was rejected by the user: the decision could not be read',
      errorCode: 'CANCELLED',
    })
    expect(text).toBe('done')
  })

  test('denies the call for an answer without a response [DG-10]', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    const part = { functionResponse: { id: requestFor(pending).id, name: 'adk_request_confirmation' } }
    await sendMessage(runner, [part as never])
    expect(run).not.toHaveBeenCalled()
  })

  test('denies the call without a reason', async () => {
    const { refund } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'ok'] })
    const { pending } = await sendMessage(runner)
    const { events } = await sendMessage(runner, [deny(requestFor(pending))])
    expect(finalResponses(events).c1).toEqual({ error: 'tool call was rejected by the user', errorCode: 'CANCELLED' })
  })

  test('accepts an answer with the call id instead of the request id', async () => {
    const { refund, run } = refundTool()
    const { runner } = startProcess(newStore(), { tools: [refund], steps: [refundReply(5), 'done'] })
    await sendMessage(runner)
    await sendMessage(runner, [answerPart('c1', yes, 'refund')])
    expect(run).toHaveBeenCalledOnce()
  })

  test('passes the payload of an approval to the context and leaves the arguments unchanged', async () => {
    const seen: (ToolConfirmation | undefined)[] = []
    const { refund, run } = refundTool()
    const watched = {
      ...refund,
      run: (args: { amount: number }, context: Parameters<typeof refund.run>[1]) => {
        seen.push(context.toolConfirmation)
        return run(args)
      },
    }
    const { runner } = startProcess(newStore(), { tools: [watched], steps: [refundReply(5), 'done'] })
    const { pending } = await sendMessage(runner)
    await sendMessage(runner, [approve(requestFor(pending), { payload: { amount: 999 } })])
    expect(run).toHaveBeenCalledWith({ amount: 5 })
    expect(seen).toEqual([{ hint: 'Approve execution of tool `refund`?', confirmed: true, payload: { amount: 999 } }])
  })

  test('runs a tool without a gate without a confirmation in its context', async () => {
    let seen: unknown = 'nothing'
    const look = tool({
      name: 'look',
      description: 'Look',
      run: (_, context) => {
        seen = context.toolConfirmation
      },
    })
    const { runner } = startProcess(newStore(), { tools: [look], steps: [{ calls: [{ name: 'look' }] }, 'done'] })
    const { pending } = await sendMessage(runner)
    expect(pending).toEqual([])
    expect(seen).toBeUndefined()
  })

  test('throws when approve, deny or respond does not fit the kind of request', async () => {
    const ask = tool({
      name: 'ask',
      description: 'Ask',
      run: (_, context) => context.requestInput({ key: 'k', message: 'Which?' }),
    })
    const { runner } = startProcess(newStore(), { tools: [ask], steps: [{ calls: [{ name: 'ask' }] }, 'done'] })
    const { pending } = await sendMessage(runner)
    expect(() => approve(requestFor(pending))).toThrow('Use respond()')
    expect((await sendMessage(runner, [respond(requestFor(pending), 'this')])).text).toBe('done')
    const { refund } = refundTool()
    const other = startProcess(newStore(), { tools: [refund], steps: [refundReply(5)] }).runner
    const request = requestFor((await sendMessage(other)).pending)
    expect(() => respond(request, { phone: '+49' })).toThrow('Use approve() or deny()')
    expect(() => respond(request, true)).toThrow('Use approve() or deny()')
    expect(respond(request, { confirmed: true })).toEqual(approve(request))
    expect(() => deny({ ...request, kind: 'longRunning' })).toThrow('Use respond()')
  })
})

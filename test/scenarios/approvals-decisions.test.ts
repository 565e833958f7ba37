// What counts as a yes. Only a literal true does.
import { approve, deny, respond, type ToolConfirmation, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { about, answer, finals, process, refunds, refundTool, say, stores } from './approvals-kit.ts'

const yes = { confirmed: true }
const accepted: [string, unknown][] = [
  ['an object', yes],
  ['inside toolConfirmation', { toolConfirmation: yes }],
  ['inside response', { response: yes }],
  ['as JSON inside response', { response: JSON.stringify(yes) }],
  ['as JSON inside toolConfirmation', { toolConfirmation: JSON.stringify(yes) }],
  ['as JSON', JSON.stringify(yes)],
  ['with what the stock UI adds', { confirmed: true, payload: { amount: 5 }, hint: 'x' }],
]
const refused: [string, unknown][] = [
  ['"true"', { confirmed: 'true' }],
  ['"false"', { confirmed: 'false' }],
  ['1', { confirmed: 1 }],
  ['an object', { confirmed: {} }],
  ['a list', { confirmed: [true] }],
  ['null', { confirmed: null }],
  ['{}', {}],
  ['[]', []],
  ['nothing', null],
  ['true by itself', true],
  ['a word', 'yes'],
  ['broken JSON', { response: '{"confirmed":tru' }],
  ['JSON of a JSON', { response: JSON.stringify(JSON.stringify(yes)) }],
  ['a prototype', JSON.parse('{"__proto__":{"confirmed":true}}')],
  ['the wrong depth', { response: { response: yes } }],
  ['a no outside, a yes inside', { confirmed: 'no', toolConfirmation: yes }],
]

describe.each(stores)('%s', (_, newStore) => {
  test.each(accepted)('%s approves [DG-10]', async (_name, response) => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'] })
    const { pending } = await say(runner)
    const { text } = await say(runner, [answer(about(pending).id, response)])
    expect(run).toHaveBeenCalledExactlyOnceWith({ amount: 5 })
    expect(text).toBe('done')
  })

  test.each(refused)('%s denies, with a reason [DG-10]', async (_name, response) => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'] })
    const { pending } = await say(runner)
    const { text, events } = await say(runner, [answer(about(pending).id, response)])
    expect(run).not.toHaveBeenCalled()
    expect(finals(events).c1).toEqual({
      error: 'tool call was rejected by the user: the decision could not be read',
      errorCode: 'CANCELLED',
    })
    expect(text).toBe('done')
  })

  test('a missing response denies too [DG-10]', async () => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'] })
    const { pending } = await say(runner)
    const part = { functionResponse: { id: about(pending).id, name: 'adk_request_confirmation' } }
    await say(runner, [part as never])
    expect(run).not.toHaveBeenCalled()
  })

  test('a plain no needs no reason', async () => {
    const { refund } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'ok'] })
    const { pending } = await say(runner)
    const { events } = await say(runner, [deny(about(pending))])
    expect(finals(events).c1).toEqual({ error: 'tool call was rejected by the user', errorCode: 'CANCELLED' })
  })

  test('the answer may name the call instead of the question', async () => {
    const { refund, run } = refundTool()
    const { runner } = process(newStore(), { tools: [refund], steps: [refunds(5), 'done'] })
    await say(runner)
    await say(runner, [answer('c1', yes, 'refund')])
    expect(run).toHaveBeenCalledOnce()
  })

  test('what comes with the yes is in the context, and changes no argument', async () => {
    const seen: (ToolConfirmation | undefined)[] = []
    const { refund, run } = refundTool()
    const watched = {
      ...refund,
      run: (args: { amount: number }, context: Parameters<typeof refund.run>[1]) => {
        seen.push(context.toolConfirmation)
        return run(args)
      },
    }
    const { runner } = process(newStore(), { tools: [watched], steps: [refunds(5), 'done'] })
    const { pending } = await say(runner)
    await say(runner, [approve(about(pending), { payload: { amount: 999 } })])
    expect(run).toHaveBeenCalledWith({ amount: 5 })
    expect(seen).toEqual([{ hint: 'Approve execution of tool `refund`?', confirmed: true, payload: { amount: 999 } }])
  })

  test('what needs no yes is asked nobody, and has no confirmation', async () => {
    let seen: unknown = 'nothing'
    const look = tool({
      name: 'look',
      description: 'Look',
      run: (_, context) => {
        seen = context.toolConfirmation
      },
    })
    const { runner } = process(newStore(), { tools: [look], steps: [{ calls: [{ name: 'look' }] }, 'done'] })
    const { pending } = await say(runner)
    expect(pending).toEqual([])
    expect(seen).toBeUndefined()
  })

  test('each question has answers of its own: others are refused before they are sent', async () => {
    const ask = tool({
      name: 'ask',
      description: 'Ask',
      run: (_, context) => context.requestInput({ key: 'k', message: 'Which?' }),
    })
    const { runner } = process(newStore(), { tools: [ask], steps: [{ calls: [{ name: 'ask' }] }, 'done'] })
    const { pending } = await say(runner)
    expect(() => approve(about(pending))).toThrow('use respond()')
    expect((await say(runner, [respond(about(pending), 'this')])).text).toBe('done')
    const { refund } = refundTool()
    const other = process(newStore(), { tools: [refund], steps: [refunds(5)] }).runner
    const request = about((await say(other)).pending)
    expect(() => respond(request, { phone: '+49' })).toThrow('use approve() or deny()')
    expect(() => respond(request, true)).toThrow('use approve() or deny()')
    expect(respond(request, { confirmed: true })).toEqual(approve(request))
    expect(() => deny({ ...request, kind: 'longRunning' })).toThrow('use respond()')
  })
})

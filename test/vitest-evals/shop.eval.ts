// The shop of the examples, evaluated with vitest-evals: a harness around a runner.
import { approve, deny, InMemorySessionService, Runner, readLog } from 'toolwright'
import { expect } from 'vitest'
import { createHarness, describeEval, toolCalls } from 'vitest-evals'
import agent from '../../examples/shop/agent.ts'

interface Input {
  readonly message: string
  readonly approves: boolean
}

const harness = createHarness<Input, string>({
  name: 'shop',
  run: async ({ input: { message, approves } }) => {
    const sessionService = new InMemorySessionService()
    const runner = new Runner({ appName: 'shop', agent, sessionService })
    const key = { userId: 'ada', sessionId: 's1' }
    let done = await runner.complete({ ...key, message })
    if (done.pending.length > 0) {
      const answers = done.pending.map((request) => (approves ? approve(request) : deny(request)))
      done = await runner.complete({ ...key, message: answers })
    }
    const { entries } = (await sessionService.readLog({ appName: 'shop', ...key })) ?? { entries: [] }
    const calls = readLog(entries).calls()
    return {
      output: done.text,
      events: [
        { type: 'message', role: 'user', content: message },
        ...calls.flatMap(({ id, name, args, response }) => [
          { type: 'tool_call' as const, id, name, arguments: { ...args } as Record<string, string> },
          { type: 'tool_result' as const, toolCallId: id, name, content: JSON.stringify(response?.response) },
        ]),
        { type: 'message', role: 'assistant', content: done.text },
      ],
    }
  },
})

describeEval('the shop', { harness }, (it) => {
  it.for([
    { name: 'finds an order', message: 'Find order A-7', approves: false, tool: 'find_order', says: 'lamp' },
    { name: 'refunds what is approved', message: 'Refund order A-7', approves: true, tool: 'refund_order', says: '40' },
    {
      name: 'refunds nothing that is denied',
      message: 'Refund order A-7',
      approves: false,
      tool: 'refund_order',
      says: 'rejected',
    },
  ])('$name', async ({ message, approves, tool, says }, { run }) => {
    const result = await run({ message, approves })
    expect(toolCalls(result).map(({ name, arguments: args }) => [name, args])).toEqual([[tool, { orderId: 'A-7' }]])
    expect(result.output).toContain(says)
  })
})

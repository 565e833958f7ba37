// Models of several scopes reply at the same time and may use the same call id, such as `call_0`.
import { agentTool, approve, LlmAgent, ParallelAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { runnerOf, sendMessage, storedEvents, stores } from './approvals-kit.ts'

describe.each(stores)('the runner with sessions %s', (_name, newStore) => {
  test.each(['call_0', '__proto__'])('keeps calls with the id "%s" of two parallel branches apart', async (id) => {
    const store = newStore()
    const paid: string[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      requiresConfirmation: true,
      run: (_args, { invocation, functionCallId }) => {
        paid.push(`${invocation.agentName} ${functionCallId}`)
        return { by: invocation.agentName }
      },
    })
    const worker = (name: string) =>
      new LlmAgent({
        name,
        tools: [pay],
        model: scriptedModel([{ calls: [{ id, name: 'pay', args: {} }] }, `${name}!`]),
      })
    const runner = runnerOf(store, new ParallelAgent({ name: 'both', subAgents: [worker('left'), worker('right')] }))
    const { pending } = await sendMessage(runner)
    expect(pending.map(({ agent }) => agent)).toEqual(['left', 'right'])
    expect(new Set(pending.map(({ functionCallId }) => functionCallId)).size).toBe(2)
    const after = await sendMessage(
      runner,
      pending.map((request) => approve(request)),
    )
    expect(after.pending).toEqual([])
    expect(paid).toHaveLength(2)
    expect(new Set(paid).size).toBe(2)
    const results = (await storedEvents(store)).flatMap(({ author, content }) =>
      (content?.role === 'tool' ? content.parts : []).map((part) => [author, part.functionResponse?.response.by]),
    )
    expect(results.sort()).toEqual([
      ['left', 'left'],
      ['right', 'right'],
    ])
  })

  test('runs each call once when one agent tool is called three times and its model repeats call ids', async () => {
    const run = vi.fn((args: { n: number }) => ({ n: args.n }))
    const count = tool({
      name: 'count',
      description: 'Count',
      parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const,
      run,
    })
    let modelCalls = 0
    const helper = new LlmAgent({
      name: 'helper',
      description: 'Counts',
      tools: [count],
      model: {
        name: 'rule',
        async *generate({ contents }) {
          const isBack = contents.at(-1)?.role === 'tool'
          const n = ++modelCalls
          const parts = isBack ? [{ text: 'ok' }] : [{ functionCall: { id: 'call_0', name: 'count', args: { n } } }]
          yield { content: { role: 'model', parts } }
        },
      },
    })
    const call = { name: 'helper', args: { request: 'go' } }
    const model = scriptedModel([{ calls: [call, call, call] }, 'done'])
    const runner = runnerOf(newStore(), new LlmAgent({ name: 'root', model, tools: [agentTool(helper)] }))
    expect((await sendMessage(runner)).text).toBe('done')
    expect(run.mock.calls.map(([args]) => args.n).sort()).toEqual([1, 2, 3])
  })
})

// skipSummarization makes a response the final answer, unless more follows it.
import {
  agentTool,
  approve,
  InMemorySessionService,
  LlmAgent,
  type PendingRequest,
  respond,
  type Tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { process, say, where } from './approvals-kit.ts'
import { bare, play } from './kit.ts'

const show = (result: unknown = { text: 'as it is' }): Tool =>
  bare('show', (_, context) => {
    context.actions.skipSummarization = true
    return result
  })

test('beside a transfer the other agent answers at once', async () => {
  const clerk = new LlmAgent({ name: 'clerk', model: scriptedModel(['I am the clerk.']) })
  const calls = [{ name: 'show' }, { name: 'transfer_to_agent', args: { agent_name: 'clerk' } }]
  for (const order of [calls, calls.toReversed()]) {
    const { text, events } = await play({
      tools: [show()],
      calls: order,
      agent: { subAgents: [new LlmAgent({ ...clerk.options, model: scriptedModel(['I am the clerk.']) })] },
    })
    expect(text).toBe('I am the clerk.')
    expect(events.some(({ actions }) => actions.skipSummarization)).toBe(false)
  }
})

describe('beside a call that waits, the model replies to the later answer', () => {
  const cases: [string, Tool, (request: PendingRequest) => ReturnType<typeof approve>][] = [
    ['long-running', bare('wait', () => ({ ticket: 1 }), { isLongRunning: true }), (one) => respond(one, { ok: true })],
    ['confirmation', bare('wait', () => ({ ok: true }), { requiresConfirmation: true }), (one) => approve(one)],
    [
      'a pause inside an agent tool',
      agentTool(
        new LlmAgent({
          name: 'wait',
          model: scriptedModel([{ calls: [{ name: 'ask' }] }, 'asked']),
          tools: [bare('ask', () => 'yes', { requiresConfirmation: true })],
        }),
      ),
      (one) => approve(one),
    ],
  ]
  test.each(cases)('%s', async (_, wait, reply) => {
    const store = new InMemorySessionService()
    const calls = [{ name: 'show' }, { name: 'wait', args: { request: 'x' } }]
    const { runner, model } = process(store, { tools: [show(), wait], steps: [{ calls }, 'Both are done.'] })
    const { pending } = await say(runner)
    expect(pending).toHaveLength(1)
    const { text } = await say(runner, [reply(pending[0] as PendingRequest)])
    expect([text, model.requests.length]).toEqual(['Both are done.', 2])
  })

  test('a call that was approved may still have the last word', async () => {
    const guarded = { ...show(), requiresConfirmation: true }
    const calls = [{ name: 'show' }, { name: 'look' }]
    const { runner, model } = process(new InMemorySessionService(), {
      tools: [guarded, bare('look', () => 1)],
      steps: [{ calls }, 'never'],
    })
    const { pending } = await say(runner)
    const { text } = await say(runner, [approve(pending[0] as PendingRequest)])
    expect([text, model.requests.length]).toEqual(['as it is', 1])
  })
})

describe('with an outputSchema', () => {
  const outputSchema = z.object({ sum: z.number() })
  const answer = { calls: [{ name: 'set_model_response', args: { sum: 4 } }] }

  test('a result that fits is the final answer, and is written to outputKey', async () => {
    const store = new InMemorySessionService()
    const { runner, model } = process(store, {
      tools: [show({ sum: 3 })],
      steps: [{ calls: [{ name: 'show' }] }, answer],
      agent: { outputSchema, outputKey: 'result' },
    })
    const { text } = await say(runner)
    const state = (await store.getSession({ appName: 'app', ...where }))?.state
    expect([JSON.parse(text), state?.result, model.requests.length]).toEqual([{ sum: 3 }, { sum: 3 }, 1])
  })

  test.each<[string, unknown, string[]]>([
    ['does not fit', { total: 3 }, ['show']],
    ['is no object', 'three', ['show']],
    ['is one of several', { sum: 3 }, ['show', 'look']],
  ])('a result that %s is not final: the model is asked for the answer', async (_, result, names) => {
    const { text, state, events } = await play({
      tools: [show(result), bare('look', () => 1)],
      steps: [{ calls: names.map((name) => ({ name })) }, answer],
      agent: { outputSchema, outputKey: 'result' },
    })
    expect([JSON.parse(text), state.result]).toEqual([{ sum: 4 }, { sum: 4 }])
    expect(events.some(({ actions }) => actions.skipSummarization)).toBe(false)
  })

  test('a checked result is what an agent tool answers', async () => {
    for (const [schema, expected] of [
      [outputSchema, { sum: 3 }],
      [undefined, { text: '{"sum":3}' }],
    ] as const) {
      const model = scriptedModel([{ calls: [{ name: 'show' }] }, 'never'])
      const helper = new LlmAgent({ name: 'helper', model, tools: [show({ sum: 3 })], outputSchema: schema })
      const { responses } = await play({
        tools: [agentTool(helper)],
        calls: [{ name: 'helper', args: { request: 'Add' } }],
      })
      expect(responses.at(-1)?.response).toEqual(expected)
    }
  })
})

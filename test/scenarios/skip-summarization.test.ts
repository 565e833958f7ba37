// skipSummarization makes a response the final answer, unless the invocation continues.
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
import { sendMessage, startProcess, where } from './approvals-kit.ts'
import { plainTool, runScenario } from './kit.ts'

const show = (result: unknown = { text: 'as it is' }): Tool =>
  plainTool('show', (_, context) => {
    context.actions.skipSummarization = true
    return result
  })

test('the runner ignores skipSummarization in a batch with a transfer', async () => {
  const clerk = new LlmAgent({ name: 'clerk', model: scriptedModel(['I am the clerk.']) })
  const calls = [{ name: 'show' }, { name: 'transfer_to_agent', args: { agent_name: 'clerk' } }]
  for (const order of [calls, calls.toReversed()]) {
    const { text, events } = await runScenario({
      tools: [show()],
      calls: order,
      agent: { subAgents: [new LlmAgent({ ...clerk.options, model: scriptedModel(['I am the clerk.']) })] },
    })
    expect(text).toBe('I am the clerk.')
    expect(events.some(({ actions }) => actions.skipSummarization)).toBe(false)
  }
})

describe('skipSummarization next to a pending call', () => {
  const cases: [string, Tool, (request: PendingRequest) => ReturnType<typeof approve>][] = [
    [
      'a long-running result',
      plainTool('wait', () => ({ ticket: 1 }), { isLongRunning: true }),
      (one) => respond(one, { ok: true }),
    ],
    ['a confirmation', plainTool('wait', () => ({ ok: true }), { requiresConfirmation: true }), (one) => approve(one)],
    [
      'a confirmation inside an agent tool',
      agentTool(
        new LlmAgent({
          name: 'wait',
          model: scriptedModel([{ calls: [{ name: 'ask' }] }, 'asked']),
          tools: [plainTool('ask', () => 'yes', { requiresConfirmation: true })],
        }),
      ),
      (one) => approve(one),
    ],
  ]
  test.each(cases)('asks the model after the answer to %s', async (_, wait, reply) => {
    const store = new InMemorySessionService()
    const calls = [{ name: 'show' }, { name: 'wait', args: { request: 'x' } }]
    const { runner, model } = startProcess(store, { tools: [show(), wait], steps: [{ calls }, 'Both are done.'] })
    const { pending } = await sendMessage(runner)
    expect(pending).toHaveLength(1)
    const { text } = await sendMessage(runner, [reply(pending[0] as PendingRequest)])
    expect([text, model.requests.length]).toEqual(['Both are done.', 2])
  })

  test('ends the run with the response of an approved call', async () => {
    const guarded = { ...show(), requiresConfirmation: true }
    const calls = [{ name: 'show' }, { name: 'look' }]
    const { runner, model } = startProcess(new InMemorySessionService(), {
      tools: [guarded, plainTool('look', () => 1)],
      steps: [{ calls }, 'never'],
    })
    const { pending } = await sendMessage(runner)
    const { text } = await sendMessage(runner, [approve(pending[0] as PendingRequest)])
    expect([text, model.requests.length]).toEqual(['as it is', 1])
  })
})

describe('skipSummarization with an outputSchema', () => {
  const outputSchema = z.object({ sum: z.number() })
  const answer = { calls: [{ name: 'set_model_response', args: { sum: 4 } }] }

  test('ends the run with a valid result and writes it to outputKey', async () => {
    const store = new InMemorySessionService()
    const { runner, model } = startProcess(store, {
      tools: [show({ sum: 3 })],
      steps: [{ calls: [{ name: 'show' }] }, answer],
      agent: { outputSchema, outputKey: 'result' },
    })
    const { text } = await sendMessage(runner)
    const state = (await store.getSession({ appName: 'app', ...where }))?.state
    expect([JSON.parse(text), state?.result, model.requests.length]).toEqual([{ sum: 3 }, { sum: 3 }, 1])
  })

  test.each<[string, unknown, string[]]>([
    ['is invalid', { total: 3 }, ['show']],
    ['is not an object', 'three', ['show']],
    ['is one of two responses', { sum: 3 }, ['show', 'look']],
  ])('asks the model for the answer when the result %s', async (_, result, names) => {
    const { text, state, events } = await runScenario({
      tools: [show(result), plainTool('look', () => 1)],
      steps: [{ calls: names.map((name) => ({ name })) }, answer],
      agent: { outputSchema, outputKey: 'result' },
    })
    expect([JSON.parse(text), state.result]).toEqual([{ sum: 4 }, { sum: 4 }])
    expect(events.some(({ actions }) => actions.skipSummarization)).toBe(false)
  })

  test('answers an agent tool with the validated result', async () => {
    for (const [schema, expected] of [
      [outputSchema, { sum: 3 }],
      [undefined, { text: '{"sum":3}' }],
    ] as const) {
      const model = scriptedModel([{ calls: [{ name: 'show' }] }, 'never'])
      const helper = new LlmAgent({ name: 'helper', model, tools: [show({ sum: 3 })], outputSchema: schema })
      const { responses } = await runScenario({
        tools: [agentTool(helper)],
        calls: [{ name: 'helper', args: { request: 'Add' } }],
      })
      expect(responses.at(-1)?.response).toEqual(expected)
    }
  })
})

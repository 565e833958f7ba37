// `output` and `usage` of complete(): the answer as a validated value, and the tokens of all model calls.
import { agentTool, LlmAgent, longRunning, Runner, SequentialAgent, tool } from 'toolwright'
import { type ScriptedReply, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const report = z.object({ city: z.string(), degrees: z.string().transform(Number) })
const answer = JSON.stringify({ city: 'Oslo', degrees: '22' })
const ask = { userId: 'ada', message: 'Oslo?' }

function reporter(steps: readonly ScriptedStep[], more: object = {}): LlmAgent<typeof report> {
  return new LlmAgent({ name: 'reporter', model: scriptedModel(steps), outputSchema: report, ...more })
}

describe('output of runner.complete()', () => {
  test('is the parsed answer with the transforms of the schema applied', async () => {
    const { output, text } = await new Runner({ appName: 'app', agent: reporter([answer]) }).complete(ask)
    expect(output).toEqual({ city: 'Oslo', degrees: 22 })
    expect(text).toBe(answer)
  })

  test('is the corrected answer when the first answer is invalid', async () => {
    const runner = new Runner({ appName: 'app', agent: reporter(['{"city":1}', answer]) })
    expect((await runner.complete(ask)).output).toEqual({ city: 'Oslo', degrees: 22 })
  })

  test('is undefined, with INVALID_OUTPUT as error, when no answer is valid', async () => {
    const runner = new Runner({ appName: 'app', agent: reporter(['no', 'no', 'no']) })
    const { output, error } = await runner.complete(ask)
    expect(output).toBeUndefined()
    expect(error?.code).toBe('INVALID_OUTPUT')
  })

  test('is undefined when the validator hangs after the run', async () => {
    let isDone = false
    const afterAgent = (): void => {
      isDone = true
    }
    const isCity = (): Promise<boolean> => (isDone ? new Promise(() => {}) : Promise.resolve(true))
    const outputSchema = z.object({ city: z.string().refine(isCity) })
    const model = scriptedModel(['{"city":"Oslo"}'])
    const agent = new LlmAgent({ name: 'weather', model, outputSchema, afterAgent })
    const runner = new Runner({ appName: 'app', agent, toolTimeoutMs: 20 })
    const { output, text, error } = await runner.complete({ userId: 'ada', message: 'Oslo?' })
    expect([output, text, error]).toEqual([undefined, '{"city":"Oslo"}', undefined])
  })

  test('is undefined while the run is paused', async () => {
    const start = longRunning(tool({ name: 'start', description: 'Start', run: () => ({ status: 'pending' }) }))
    const agent = reporter([{ calls: [{ name: 'start', args: {} }] }, answer], { tools: [start] })
    const { output, pending } = await new Runner({ appName: 'app', agent }).complete(ask)
    expect(pending).toHaveLength(1)
    expect(output).toBeUndefined()
  })

  test('is the answer of the last agent of a sequence', async () => {
    const first = new LlmAgent({ name: 'first', model: scriptedModel(['Looking it up.']) })
    const agent = new SequentialAgent({ name: 'both', subAgents: [first, reporter([answer])] })
    expect((await new Runner({ appName: 'app', agent }).complete(ask)).output).toEqual({ city: 'Oslo', degrees: 22 })
  })

  test('is undefined when an agent without the schema answers after a transfer', async () => {
    const clerk = new LlmAgent({ name: 'clerk', description: 'Talks.', model: scriptedModel(['Hello.']) })
    const agent = reporter([{ calls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] }], {
      subAgents: [clerk],
    })
    const { output, text } = await new Runner({ appName: 'app', agent }).complete(ask)
    expect(text).toBe('Hello.')
    expect(output).toBeUndefined()
  })

  test('is undefined without an outputSchema, even when the answer is JSON', async () => {
    const agent = new LlmAgent({ name: 'talker', model: scriptedModel([answer]) })
    expect((await new Runner({ appName: 'app', agent }).complete(ask)).output).toBeUndefined()
  })
})

describe('usage of runner.complete()', () => {
  const used = (promptTokenCount: number, candidatesTokenCount: number): ScriptedReply => {
    const totalTokenCount = promptTokenCount + candidatesTokenCount
    return { text: answer, response: { usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount } } }
  }

  test('adds up all model calls of the run, including those of an agent tool', async () => {
    const inner = new LlmAgent({ name: 'inner', description: 'Helps.', model: scriptedModel([used(1, 2)]) })
    const model = scriptedModel([
      { ...used(10, 20), calls: [{ name: 'inner', args: { request: 'x' } }] },
      used(100, 200),
    ])
    const agent = new LlmAgent({ name: 'outer', model, tools: [agentTool(inner)] })
    const { usage } = await new Runner({ appName: 'app', agent }).complete(ask)
    expect(usage).toEqual({
      promptTokenCount: 111,
      candidatesTokenCount: 222,
      thoughtsTokenCount: 0,
      cachedContentTokenCount: 0,
      toolUsePromptTokenCount: 0,
      totalTokenCount: 333,
    })
  })

  test('ignores counts that are not numbers', async () => {
    const model = scriptedModel([
      { text: 'hi', response: { usageMetadata: { promptTokenCount: 'many', totalTokenCount: NaN } } },
    ])
    const agent = new LlmAgent({ name: 'agent', model })
    const { usage } = await new Runner({ appName: 'app', agent }).complete(ask)
    expect(usage).toMatchObject({ promptTokenCount: 0, totalTokenCount: 0 })
  })
})

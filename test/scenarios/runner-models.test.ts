import { LlmAgent, Runner, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

test('a model’s name is looked up by pattern, and made once for all who use it', async () => {
  const asked: string[] = []
  const model = scriptedModel(['one', 'two', 'three'])
  const make = (kind: string) => (name: string) => {
    asked.push(`${kind} ${name}`)
    return model
  }
  const agent = new SequentialAgent({
    name: 'line',
    subAgents: [
      new LlmAgent({ name: 'a', model: 'gemini-2.5-flash' }),
      new LlmAgent({ name: 'b', model: 'gemini-2.5-flash' }),
      new LlmAgent({ name: 'c', model: 'house.v1' }),
    ],
  })
  const models = { 'gemini-*': make('gemini'), 'house.v1': make('house'), '*': make('any') }
  const { text } = await new Runner({ appName: 'app', agent, models }).complete({ userId: 'ada', message: 'Go' })
  expect(text).toBe('three')
  expect(asked).toEqual(['gemini gemini-2.5-flash', 'house house.v1'])
})

test('a sub-agent without a model uses the nearest one above it', async () => {
  const to = (agent_name: string) => ({ calls: [{ name: 'transfer_to_agent', args: { agent_name } }] })
  const upper = scriptedModel([to('heir'), to('middle')])
  const lower = scriptedModel([to('leaf'), 'from the leaf'])
  const leaf = new LlmAgent({ name: 'leaf' })
  const middle = new LlmAgent({ name: 'middle', model: lower, subAgents: [leaf] })
  const heir = new LlmAgent({ name: 'heir', subAgents: [middle] })
  const agent = new LlmAgent({ name: 'root', model: upper, subAgents: [heir] })
  const { text } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Go' })
  expect(text).toBe('from the leaf')
  for (const model of [upper, lower]) model.assertComplete()
})

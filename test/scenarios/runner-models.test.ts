import { LlmAgent, Runner, SequentialAgent } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

test('the runner resolves model names by pattern and creates each model once', async () => {
  const created: string[] = []
  const model = scriptedModel(['one', 'two', 'three'])
  const make = (kind: string) => (name: string) => {
    created.push(`${kind} ${name}`)
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
  expect(created).toEqual(['gemini gemini-2.5-flash', 'house house.v1'])
})

test('the runner uses the model of the nearest ancestor for a sub-agent without a model', async () => {
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

import { LlmAgent, Runner } from 'toolwright'
import { expect, test } from 'vitest'
import { type ScriptedModel, scriptedModel } from './scripted-model.ts'
import { strictModel } from './strict-model.ts'

/** One message to an agent whose callback does this to the request. */
async function ask(
  model: ScriptedModel,
  beforeModel: NonNullable<ConstructorParameters<typeof LlmAgent>[0]['beforeModel']>,
): Promise<{ text: string; error: string | undefined }> {
  const agent = new LlmAgent({ name: 'agent', model: strictModel(model), beforeModel })
  const logger = { warn: () => {}, error: () => {} }
  const { text, error } = await new Runner({ appName: 'app', agent, logger }).complete({ userId: 'ada', message: 'hi' })
  return { text, error: error?.message }
}

test('a history that a callback broke does not reach the model, and the error says every rule', async () => {
  const model = scriptedModel(['hello'])
  const told = await ask(model, ({ request }) => {
    request.contents.push({ role: 'model', parts: [{ functionCall: { name: 'look up', id: 'a', args: {} } }] })
    return undefined
  })
  expect(told.error?.split('\n')).toEqual([
    'A provider would refuse this history:',
    'Gemini: contents[1]: the last turn must have the role user or be responses',
    'Gemini: contents[1]: responses to look up (a) must follow in the next turn',
    'OpenAI: contents[1]: the name "look up" must match ^[a-zA-Z0-9_-]{1,64}$',
    'OpenAI: the end comes before the response to look up (a)',
    'Anthropic: contents[1]: the name "look up" must match ^[a-zA-Z0-9_-]{1,128}$',
    'Anthropic: contents[1]: no result of look up (a) in the message after it',
  ])
  expect(model.requests).toEqual([])
})

test('one that was changed well does, and the reply is the model’s', async () => {
  const model = scriptedModel(['hello'])
  const told = await ask(model, ({ request }) => {
    request.contents.push({ role: 'user', parts: [{ text: 'Be brief.' }] })
    return undefined
  })
  expect(told).toEqual({ text: 'hello', error: undefined })
  expect(model.requests).toHaveLength(1)
})

test('it is called and can do what the model is called and can', () => {
  const model = strictModel(scriptedModel([], { name: 'm', capabilities: { toolsWithOutputSchema: true } }))
  expect(model).toMatchObject({ name: 'm', capabilities: { toolsWithOutputSchema: true } })
  expect(strictModel(scriptedModel([]))).not.toHaveProperty('capabilities')
})

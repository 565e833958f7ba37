import { LlmAgent, Runner } from 'toolwright'
import { expect, test } from 'vitest'
import { type ScriptedModel, scriptedModel } from './scripted-model.ts'
import { strictModel } from './strict-model.ts'

/** Runs an agent with a strict model and a callback that changes the request. */
async function ask(
  model: ScriptedModel,
  beforeModel: NonNullable<ConstructorParameters<typeof LlmAgent>[0]['beforeModel']>,
): Promise<{ text: string; error: string | undefined }> {
  const agent = new LlmAgent({ name: 'agent', model: strictModel(model), beforeModel })
  const logger = { warn: () => {}, error: () => {} }
  const { text, error } = await new Runner({ appName: 'app', agent, logger }).complete({ userId: 'ada', message: 'hi' })
  return { text, error: error?.message }
}

test('strictModel rejects a history that a callback broke, with every broken rule', async () => {
  const model = scriptedModel(['hello'])
  const told = await ask(model, ({ request }) => {
    request.contents.push({ role: 'model', parts: [{ functionCall: { name: 'look up', id: 'a', args: {} } }] })
    return undefined
  })
  expect(told.error?.split('\n')).toEqual([
    'A provider would reject this history:',
    'Gemini: contents[1]: the last turn must have the role user or contain responses',
    'Gemini: contents[1]: responses to look up (a) must follow in the next turn',
    'OpenAI: contents[1]: the name "look up" must match ^[a-zA-Z0-9_-]{1,64}$',
    'OpenAI: the end comes before the response to look up (a)',
    'Anthropic: contents[1]: the name "look up" must match ^[a-zA-Z0-9_-]{1,128}$',
    'Anthropic: contents[1]: no result of look up (a) in the message after it',
  ])
  expect(model.requests).toEqual([])
})

test('strictModel passes a valid changed history to the model', async () => {
  const model = scriptedModel(['hello'])
  const told = await ask(model, ({ request }) => {
    request.contents.push({ role: 'user', parts: [{ text: 'Be brief.' }] })
    return undefined
  })
  expect(told).toEqual({ text: 'hello', error: undefined })
  expect(model.requests).toHaveLength(1)
})

test('strictModel has the name and capabilities of the model', () => {
  const model = strictModel(scriptedModel([], { name: 'm', capabilities: { toolsWithOutputSchema: true } }))
  expect(model).toMatchObject({ name: 'm', capabilities: { toolsWithOutputSchema: true } })
  expect(strictModel(scriptedModel([]))).not.toHaveProperty('capabilities')
})

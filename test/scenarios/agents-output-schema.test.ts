import { LlmAgent, Runner } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { declarationsOf, offeredTools, plainTool, runScenario } from './kit.ts'

const city = z.object({ city: z.string(), people: z.number() })
const oslo = { city: 'Oslo', people: 700_000 }
const look = plainTool('look', () => ({ found: true }))
const answer = (args: { [key: string]: unknown }): ScriptedStep => ({ calls: [{ name: 'set_model_response', args }] })

test('the runner stores only the text of the last reply under outputKey', async () => {
  const { state, events } = await runScenario({
    tools: [look],
    steps: [{ text: 'Let me look.', calls: [{ name: 'look' }] }, 'Found it.'],
    agent: { outputKey: 'found' },
  })
  expect(state).toEqual({ found: 'Found it.' })
  expect(events.map(({ actions }) => actions.stateDelta)).toEqual([undefined, undefined, { found: 'Found it.' }])
})

test('the runner stores no thoughts under outputKey', async () => {
  const { state } = await runScenario({
    steps: [{ parts: [{ text: 'hm', thought: true }], text: 'Yes.' }],
    agent: { outputKey: 'said' },
  })
  expect(state).toEqual({ said: 'Yes.' })
})

test('the runner sends the output schema with the request of an agent without tools and stores the object', async () => {
  const { state, model, text } = await runScenario({
    steps: [JSON.stringify(oslo)],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  expect(model.requests[0]?.config.responseJsonSchema).toMatchObject({ type: 'object', required: ['city', 'people'] })
  expect(model.requests[0]?.config.responseMimeType).toBe('application/json')
  expect(offeredTools(model)).toEqual([])
  expect(JSON.parse(text)).toEqual(oslo)
  expect(state).toEqual({ place: oslo })
})

test('the runner sends tools and output schema in one request to a model that supports both', async () => {
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, JSON.stringify(oslo)], {
    capabilities: { toolsWithOutputSchema: true },
  })
  const agent = new LlmAgent({ name: 'agent', model, tools: [look], outputSchema: city, outputKey: 'place' })
  const runner = new Runner({ appName: 'app', agent })
  const { text } = await runner.complete({ userId: 'ada', message: 'Where?' })
  expect(offeredTools(model)).toEqual(['look'])
  expect(model.requests[0]?.config.responseJsonSchema).toBeDefined()
  expect(JSON.parse(text)).toEqual(oslo)
})

test('the runner offers set_model_response to a model that does not support tools with an output schema, and stores its arguments as the output', async () => {
  const { state, model, text, error } = await runScenario({
    tools: [look],
    steps: [{ calls: [{ name: 'look' }] }, answer(oslo)],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  expect(offeredTools(model)).toEqual(['look', 'set_model_response'])
  expect(declarationsOf(model)[1]?.parametersJsonSchema).toMatchObject({ required: ['city', 'people'] })
  expect(model.requests[0]?.config.responseJsonSchema).toBeUndefined()
  expect(model.requests).toHaveLength(2)
  expect(JSON.parse(text)).toEqual(oslo)
  expect(state).toEqual({ place: oslo })
  expect(error).toBeUndefined()
})

test('the runner reads an output in a fenced code block', async () => {
  const { state } = await runScenario({
    steps: [`\`\`\`json\n${JSON.stringify(oslo)}\n\`\`\``],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  expect(state).toEqual({ place: oslo })
})

test('the runner shows the model what was expected after a wrong output and stores the corrected output', async () => {
  const { state, model, error } = await runScenario({
    steps: ['Oslo, I think.', '{"city":"Oslo"}', JSON.stringify(oslo)],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  const corrections = model.requests.map(({ contents }) => contents.at(-1)?.parts[0]?.text)
  expect(corrections[1]).toContain('JSON and nothing else')
  expect(corrections[2]).toContain('people')
  expect(state).toEqual({ place: oslo })
  expect(error).toBeUndefined()
})

test('an agent ends with INVALID_OUTPUT after three wrong outputs and stores nothing', async () => {
  const { state, model, error } = await runScenario({
    steps: ['no', 'no', 'no', JSON.stringify(oslo)],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  expect(error).toMatchObject({ code: 'INVALID_OUTPUT', message: expect.stringContaining('"agent"') })
  expect(model.requests).toHaveLength(3)
  expect(state).toEqual({})
})

test('an agent ends with INVALID_OUTPUT after three wrong calls of set_model_response with different arguments', async () => {
  const steps = Array.from({ length: 9 }, (_, n) => answer({ city: n }))
  const { error, model } = await runScenario({ tools: [look], steps, agent: { outputSchema: city } })
  expect(error).toMatchObject({ code: 'INVALID_OUTPUT', message: expect.stringContaining('people') })
  expect(model.requests).toHaveLength(3)
})

test('the runner counts wrong text outputs and wrong calls of set_model_response together', async () => {
  const steps = [answer({ city: 1 }), 'It is Oslo.', answer({ city: 2 }), answer(oslo)]
  const { error, model } = await runScenario({ tools: [look], steps, agent: { outputSchema: city } })
  expect(error?.code).toBe('INVALID_OUTPUT')
  expect(model.requests).toHaveLength(3)
})

test('the runner stores the output after two wrong calls of set_model_response', async () => {
  const { error, state } = await runScenario({
    tools: [look],
    steps: [answer({ city: 1 }), answer({ city: 2 }), answer(oslo)],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  expect(error).toBeUndefined()
  expect(state).toEqual({ place: oslo })
})

test('the runner tells a model that replies with text to call set_model_response', async () => {
  const { model, state } = await runScenario({
    tools: [look],
    steps: ['It is Oslo.', answer(oslo)],
    agent: { outputSchema: city, outputKey: 'place' },
  })
  expect(model.requests[1]?.contents.at(-1)?.parts[0]?.text).toContain('set_model_response')
  expect(state).toEqual({ place: oslo })
})

test.each([
  ['a list', z.array(z.string()), ['a', 'b']],
  ['a number', z.number(), 42],
  ['one of two words', z.enum(['yes', 'no']), 'yes'],
] as const)(
  'the runner accepts %s as output, from text and from set_model_response',
  async (_, outputSchema, value) => {
    const native = await runScenario({ steps: [JSON.stringify(value)], agent: { outputSchema, outputKey: 'out' } })
    expect(native.state).toEqual({ out: value })
    const byTool = await runScenario({
      tools: [look],
      steps: [answer({ result: value })],
      agent: { outputSchema, outputKey: 'out' },
    })
    expect(declarationsOf(byTool.model)[1]?.parametersJsonSchema).toMatchObject({ required: ['result'] })
    expect(byTool.state).toEqual({ out: value })
    expect(JSON.parse(byTool.text)).toEqual(value)
  },
)

test('the runner sends the user message again when it asks an agent with includeContents "none" to correct its output', async () => {
  const { model } = await runScenario({
    steps: ['Oslo?', JSON.stringify(oslo)],
    agent: { outputSchema: city, includeContents: 'none' },
  })
  expect(model.requests[1]?.contents.map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
    ['user', 'go'],
    ['model', 'Oslo?'],
    ['user', expect.stringContaining('JSON only')],
  ])
})

import { exampleTool, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const look = tool({ name: 'look', description: 'Look.', run: () => ({ seen: 'tea' }) })

test('exampleTool adds examples to the instruction of every model call and declares no tool', async () => {
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'Tea.'])
  const examples = exampleTool([{ input: 'What is this?', output: 'A cup.' }])
  const agent = new LlmAgent({ name: 'guide', model, instruction: 'Be kind.', tools: [examples, look] })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'And this?' })
  for (const { config } of model.requests) {
    expect(config.systemInstruction).toMatch(/^Be kind\.\n\n<examples>\n/)
    expect(config.systemInstruction).toContain('[user] What is this?\n[model] A cup.\n</example>\n</examples>')
    expect(config.tools).toEqual([{ functionDeclarations: [look.declaration()] }])
  }
})

test('exampleTool calls its function with the user text once per message', async () => {
  const queries: string[] = []
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'Tea.', 'Milk.'])
  const examples = exampleTool((query) => {
    queries.push(query)
    return [{ input: `${query} (then)`, output: 'A cup.' }]
  })
  const agent = new LlmAgent({ name: 'guide', model, tools: [examples, look] })
  const runner = new Runner({ appName: 'app', agent })
  const { sessionId } = await runner.complete({ userId: 'ada', message: 'This?' })
  await runner.complete({ userId: 'ada', sessionId, message: 'That?' })
  expect(queries).toEqual(['This?', 'That?'])
  const shown = model.requests.map(({ config }) => /\[user\] (.*)/.exec(config.systemInstruction ?? '')?.[1])
  expect(shown).toEqual(['This? (then)', 'This? (then)', 'That? (then)'])
})

test('exampleTool cannot be called by the model', async () => {
  const model = scriptedModel([{ calls: [{ name: 'example_tool' }] }, 'Sorry.'])
  const agent = new LlmAgent({ name: 'guide', model, tools: [exampleTool([{ input: 'a', output: 'b' }])] })
  const { events } = await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'Hi' })
  expect(model.requests[0]?.config.tools).toBeUndefined()
  expect(events[1]?.content?.parts[0]?.functionResponse?.response).toEqual({
    error: 'Unknown tool "example_tool". This agent has no tools.',
    errorCode: 'NOT_FOUND',
  })
})

// What Phoenix reads of our spans, with the conversion of its makers.
import { convertGenAISpanAttributesToOpenInferenceSpanAttributes as convert } from '@arizeai/openinference-genai'
import { LlmAgent, Runner, tool } from 'toolwright'
import { type OtelOptions, otel } from 'toolwright/otel'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { registerSdk } from './exported.test-kit.ts'

async function converse(options: OtelOptions) {
  const { spans } = registerSdk()
  const search = tool({ name: 'search', description: 'Searches', effect: 'none', run: () => ({ hits: 3 }) })
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 7 }
  const reply = { calls: [{ name: 'search', args: { query: 'rent' } }], response: { usageMetadata } }
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([reply, 'Three.']), tools: [search] })
  const runner = new Runner({ appName: 'shop', agent, observers: [otel(options)] })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'How much is the rent?' })
  return spans().map(({ name, attributes }) => ({ name, seen: convert(attributes), session: attributes['session.id'] }))
}

test('Phoenix sees an agent, model calls and a tool of one session', async () => {
  const converted = await converse({ captureContent: true })
  expect(converted.map(({ name, seen, session }) => [name, seen?.['openinference.span.kind'], session])).toEqual([
    ['chat scripted', 'LLM', 's1'],
    ['execute_tool search', 'TOOL', 's1'],
    ['chat scripted', 'LLM', 's1'],
    ['invoke_agent desk', 'AGENT', 's1'],
  ])
  const [model, tool] = converted
  expect(model?.seen).toMatchObject({
    'llm.model_name': 'scripted',
    'llm.token_count.prompt': 100,
    'llm.token_count.completion': 7,
    'llm.input_messages.0.message.role': 'user',
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'search',
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"query":"rent"}',
  })
  expect(JSON.stringify(model?.seen)).toContain('How much is the rent?')
  expect(tool?.seen).toMatchObject({ 'tool.name': 'search', 'tool.description': 'Searches' })
})

test('Phoenix sees no content unless it is captured', async () => {
  const converted = await converse({})
  expect(converted.map(({ seen }) => seen?.['openinference.span.kind'])).toEqual(['LLM', 'TOOL', 'LLM', 'AGENT'])
  expect(JSON.stringify(converted)).not.toMatch(/rent|hits|Three/)
})

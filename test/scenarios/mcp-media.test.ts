// Pictures of MCP servers reach the model: of tools with and without a page of their own, and of prompts.
import { LlmAgent, Runner, redact, toolSource } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { inlineServer, listedTool } from '../mcp/inline-server.ts'
import { type Call, silentLogger } from './kit.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg=='

function server(): McpToolset {
  const image = { type: 'image', mimeType: 'image/png', data: PNG }
  const text = { type: 'text', text: 'here' }
  const page = { _meta: { ui: { resourceUri: 'ui://plot/app.html' } } }
  const connection = inlineServer({
    'tools/list': { tools: [listedTool('photo'), listedTool('plot', page)] },
    'tools/call': { content: [text, image], _meta: { only: 'for the page' } },
    'prompts/get': { messages: [text, image].map((content) => ({ role: 'user', content })) },
  })
  return new McpToolset({ connection, prompts: true, logger: silentLogger })
}

/** What the model gets of the result of a call: the response, and the data of its pictures. */
async function shownTo(call: Call, tools = [server()] as ConstructorParameters<typeof LlmAgent>[0]['tools']) {
  const model = scriptedModel([{ calls: [call] }, 'done'])
  await using runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'a', model, tools }) })
  await runner.complete({ userId: 'ada', message: 'go' })
  const parts = model.requests[1]?.contents.at(-1)?.parts ?? []
  const all = parts.flatMap((part) => [part, ...(part.functionResponse?.parts ?? [])])
  return {
    response: parts.find(({ functionResponse }) => functionResponse)?.functionResponse?.response,
    pictures: all.flatMap(({ inlineData }) => inlineData?.data ?? []),
  }
}

test.each(['photo', 'plot'])('the model gets the picture of the tool %s, without the data for a page', async (name) => {
  expect(await shownTo({ name })).toEqual({ response: { text: 'here', media: ['image/png'] }, pictures: [PNG] })
})

test('the model gets the picture of a tool with a page through policies', async () => {
  const toolset = server()
  const redacted = toolSource(async (context) => {
    return (await toolset.listTools(context)).map((tool) => redact(tool, ['nothing']))
  })
  expect((await shownTo({ name: 'plot' }, [redacted])).pictures).toEqual([PNG])
  await toolset.shutdown()
})

test('the model gets the picture of a prompt', async () => {
  expect(await shownTo({ name: 'load_mcp_prompt', args: { name: 'p' } })).toEqual({
    response: {
      messages: [
        { role: 'user', text: 'here' },
        { role: 'user', media: ['image/png'] },
      ],
    },
    pictures: [PNG],
  })
})

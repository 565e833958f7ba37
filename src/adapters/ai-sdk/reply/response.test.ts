// Replies with more than text and calls, read with the real provider packages.
import { anthropic } from '@ai-sdk/anthropic'
import { google } from '@ai-sdk/google'
import { openai } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import { anthropicBlocks } from '../../../../test/providers/anthropic.ts'
import { googleParts } from '../../../../test/providers/google.ts'
import { openaiItems } from '../../../../test/providers/openai-responses.ts'
import { ProviderServer, type Reply } from '../../../../test/providers/provider-server.ts'
import type { Content } from '../../../core/content/content.ts'
import { functionCallsOf, textOf } from '../../../core/content/content.ts'
import type { LlmRequestConfig } from '../../../engine/model/llm-request-config.ts'
import type { LlmResponse } from '../../../engine/model/model.ts'
import { fromAiSdk } from '../from-ai-sdk.ts'
import {
  ask,
  at,
  claude,
  gemini,
  type ProviderFormat,
  request,
  responses,
  stored,
  user,
} from '../providers.test-kit.ts'
import { toConfigTool, toProviderToolEntry } from '../tools/provider-tool.ts'

const usage = { input_tokens: 1, output_tokens: 1 }

/** The response to one reply, and the next request, which contains the reply. */
async function twice(
  format: ProviderFormat,
  reply: Reply,
  stream: boolean,
  config: LlmRequestConfig = {},
): Promise<{ whole: LlmResponse; tools: unknown; next: unknown }> {
  await using server = await ProviderServer.start([reply, format.say({ text: 'Fine.' })])
  const model = fromAiSdk(format.model(server.url))
  const { whole } = await ask(model, request([user('?')], config), { stream })
  const history = stored([user('?'), whole.content as Content, user('And?')])
  await ask(model, request(history, config), { stream })
  return { whole, tools: server.requests[0]?.body.tools, next: server.requests[1]?.body }
}

describe.each([true, false])('fromAiSdk(), streamed: %s,', (stream) => {
  describe('a tool that the provider runs is not dispatched and is sent back', () => {
    test('OpenAI: a web search', async () => {
      const config = { tools: [toConfigTool(toProviderToolEntry(openai.tools.webSearch({})))] }
      const action = { type: 'search', query: 'oslo', sources: [{ type: 'url', url: 'https://yr.no/oslo' }] }
      const found = { type: 'output_text', text: 'Cold.', annotations: [] }
      const reply = openaiItems(
        [
          { type: 'web_search_call', id: 'ws_1', status: 'completed', action },
          { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content: [found] },
        ],
        usage,
      )
      const { whole, tools, next } = await twice(responses, reply, stream, config)
      expect(tools).toMatchObject([{ type: 'web_search' }])
      expect(functionCallsOf(whole.content)).toEqual([])
      expect(textOf(whole.content)).toBe('Cold.')
      expect(whole.groundingMetadata).toEqual({ groundingChunks: [{ web: { uri: 'https://yr.no/oslo' } }] })
      expect(JSON.stringify(at(next, 'input'))).toContain('"ws_1"')
    })

    test('Anthropic: a web search with encrypted results', async () => {
      const config = { tools: [toConfigTool(toProviderToolEntry(anthropic.tools.webSearch_20250305({}), 'search'))] }
      const result = {
        type: 'web_search_result',
        url: 'https://yr.no',
        title: 'Yr',
        page_age: null,
        encrypted_content: 'ENC',
      }
      const reply = anthropicBlocks([
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'oslo' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [result] },
        { type: 'text', text: 'Cold.' },
      ])
      const { whole, tools, next } = await twice(claude, reply, stream, config)
      expect(tools).toMatchObject([{ type: 'web_search_20250305' }])
      expect(functionCallsOf(whole.content)).toEqual([])
      expect(whole.groundingMetadata).toEqual({ groundingChunks: [{ web: { uri: 'https://yr.no', title: 'Yr' } }] })
      expect(at(next, 'messages', 1, 'content')).toMatchObject([
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'oslo' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ encrypted_content: 'ENC' }] },
        { type: 'text', text: 'Cold.' },
      ])
    })

    test('Google: code execution and grounding', async () => {
      const config = { tools: [toConfigTool(toProviderToolEntry(google.tools.codeExecution({})))] }
      const executableCode = { language: 'PYTHON', code: 'print(2)' }
      const codeExecutionResult = { outcome: 'OUTCOME_OK', output: '2\n' }
      const groundingMetadata = {
        webSearchQueries: ['oslo'],
        groundingChunks: [{ web: { uri: 'https://yr.no', title: 'Yr' } }],
      }
      const reply = googleParts([{ executableCode }, { codeExecutionResult }, { text: 'Two.' }], 'STOP', {
        groundingMetadata,
      })
      const { whole, next } = await twice(gemini, reply, stream, config)
      expect(functionCallsOf(whole.content)).toEqual([])
      expect(whole.groundingMetadata).toMatchObject(groundingMetadata)
      expect(at(next, 'contents', 1, 'parts')).toMatchObject([
        { executableCode },
        { codeExecutionResult },
        { text: 'Two.' },
      ])
    })
  })

  test('stores a generated image and sends it back', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
    const { whole, next } = await twice(gemini, googleParts([{ inlineData, thoughtSignature: 'S' }]), stream)
    expect(whole.content?.parts).toMatchObject([{ inlineData, thoughtSignature: 'S' }])
    expect(at(next, 'contents', 1, 'parts', 0)).toMatchObject({ inlineData, thoughtSignature: 'S' })
  })

  test('returns sources as grounding metadata and citations', async () => {
    const citation = { type: 'url_citation', start_index: 0, end_index: 5, url: 'https://yr.no', title: 'Yr' }
    const content = [{ type: 'output_text', text: 'Cold.', annotations: [citation] }]
    const item = { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content }
    const annotated = {
      type: 'response.output_text.annotation.added',
      item_id: 'msg_1',
      output_index: 0,
      annotation: citation,
    }
    const reply: Reply = (asked) => {
      const made = openaiItems([item], usage)
      const { json, events } = typeof made === 'function' ? made(asked) : made
      return events ? { events: [...events].toSpliced(-2, 0, annotated) } : { json }
    }
    const { whole } = await twice(responses, reply, stream)
    expect(whole.citationMetadata).toEqual({
      citations: [{ startIndex: 0, endIndex: 5, uri: 'https://yr.no', title: 'Yr' }],
    })
  })

  test('leaves commentary out of a structured answer', async () => {
    const message = (id: string, phase: string, text: string) => ({
      type: 'message',
      role: 'assistant',
      id,
      phase,
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    })
    const items = [message('m1', 'commentary', 'Let me see.'), message('m2', 'final_answer', '{"ok":true}')]
    const config = { responseJsonSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } }
    const { whole, next } = await twice(responses, openaiItems(items, usage), stream, config)
    expect(textOf(whole.content)).toBe('{"ok":true}')
    expect(JSON.stringify(at(next, 'input'))).toContain('Let me see.')
    const { whole: free } = await twice(responses, openaiItems(items, usage), stream)
    expect(textOf(free.content)).toBe('Let me see.{"ok":true}')
  })

  test('rejects an approval request of the provider', async () => {
    const asks = {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      approval_request_id: 'mcpr_1',
      server_label: 's',
      name: 'n',
      arguments: '{}',
    }
    await expect(twice(responses, openaiItems([asks], usage), stream)).rejects.toThrow(
      'requests an approval before it runs',
    )
  })
})

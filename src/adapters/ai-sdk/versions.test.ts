// Models with older specification versions.
import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV3,
  LanguageModelV3CallOptions,
} from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import type { Content, Part } from '../../core/content/content.ts'
import { fromAiSdk } from './from-ai-sdk.ts'
import { ask, request, user } from './providers.test-kit.ts'

const DATA = 'iVBORw0KGgo='
const png: Part = { inlineData: { mimeType: 'image/png', data: DATA } }
const pdf: Part = { inlineData: { mimeType: 'application/pdf', data: DATA, displayName: 'a.pdf' } }
const link: Part = { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } }
const history: Content[] = [
  { role: 'user', parts: [{ text: 'See' }, png, link] },
  { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'draw', args: { n: 1 } } }] },
  { role: 'tool', parts: [{ functionResponse: { id: 'c1', name: 'draw', response: { ok: true } } }, png, pdf, link] },
]
const search = { providerTool: { id: 'x.search', name: 'search', args: { deep: true } } }

type V2Result = Awaited<ReturnType<LanguageModelV2['doGenerate']>>

test('fromAiSdk() supports specification version 2 of AI SDK models', async () => {
  const asked: LanguageModelV2CallOptions[] = []
  const result: V2Result = {
    content: [
      { type: 'text', text: 'Here: ' },
      { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'draw', input: '{"n":2}' },
    ],
    finishReason: 'tool-calls',
    usage: { inputTokens: 12, outputTokens: 5, totalTokens: 20, reasoningTokens: 3, cachedInputTokens: 4 },
    warnings: [{ type: 'other', message: 'Take care.' }],
  }
  const model: LanguageModelV2 = {
    specificationVersion: 'v2',
    provider: 'old.messages',
    modelId: 'old-1',
    supportedUrls: Promise.resolve({ 'image/*': [/^https:/] }),
    doGenerate: async (options) => {
      asked.push(options)
      return result
    },
    doStream: () => Promise.reject(new Error('doStream() must not be called in this test.')),
  }
  const { whole } = await ask(fromAiSdk(model, { mediaInToolResults: true }), request(history, { tools: [search] }))
  expect(whole.content?.parts).toEqual([
    { text: 'Here: ' },
    { inlineData: { mimeType: 'image/png', data: 'AQID' } },
    { functionCall: { id: 'c2', name: 'draw', args: { n: 2 } } },
  ])
  expect(whole.finishReason).toBe('STOP')
  expect(whole.usageMetadata).toEqual({
    promptTokenCount: 12,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 3,
    cachedContentTokenCount: 4,
    totalTokenCount: 20,
  })
  expect(whole.customMetadata).toMatchObject({ aiSdk: { warnings: [{ message: 'Take care.' }] } })
  const [first, , results] = asked[0]?.prompt ?? []
  expect(first?.content).toEqual([
    { type: 'text', text: 'See' },
    { type: 'file', mediaType: 'image/png', data: DATA },
    { type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') },
  ])
  expect(results?.content).toMatchObject([
    {
      output: {
        type: 'content',
        value: [
          { type: 'text', text: '{"ok":true}' },
          { type: 'media', mediaType: 'image/png', data: DATA },
          { type: 'media', mediaType: 'application/pdf', data: DATA },
          { type: 'text', text: 'File (image/png): https://example.com/a.png' },
        ],
      },
    },
  ])
  expect(asked[0]?.tools).toEqual([{ type: 'provider-defined', id: 'x.search', name: 'search', args: { deep: true } }])
})

test('fromAiSdk() supports specification version 3 of AI SDK models with streaming', async () => {
  const asked: LanguageModelV3CallOptions[] = []
  const model: LanguageModelV3 = {
    specificationVersion: 'v3',
    provider: 'newer.messages',
    modelId: 'newer-1',
    supportedUrls: { '*/*': [/^https:/] },
    doGenerate: () => Promise.reject(new Error('doGenerate() must not be called in this test.')),
    doStream: async (options) => {
      asked.push(options)
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [{ type: 'other', message: 'Take care.' }] })
            controller.enqueue({ type: 'file', mediaType: 'image/png', data: DATA })
            controller.enqueue({
              type: 'finish',
              finishReason: { unified: 'stop', raw: 'end' },
              usage: {
                inputTokens: { total: 12, noCache: 8, cacheRead: 4, cacheWrite: 0 },
                outputTokens: { total: 8, text: 5, reasoning: 3 },
              },
            })
            controller.close()
          },
        }),
      }
    },
  }
  const { whole } = await ask(fromAiSdk(model, { mediaInToolResults: true }), request(history, { tools: [search] }), {
    stream: true,
  })
  expect(whole.content?.parts).toEqual([{ inlineData: { mimeType: 'image/png', data: DATA } }])
  expect(whole.usageMetadata).toMatchObject({ candidatesTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 20 })
  expect(whole.customMetadata).toMatchObject({ aiSdk: { finishReason: 'end', warnings: [{ message: 'Take care.' }] } })
  expect(asked[0]?.prompt[2]?.content).toMatchObject([
    {
      output: {
        type: 'content',
        value: [
          { type: 'text' },
          { type: 'image-data', mediaType: 'image/png', data: DATA },
          { type: 'file-data', mediaType: 'application/pdf', data: DATA, filename: 'a.pdf' },
          { type: 'image-url', url: 'https://example.com/a.png' },
        ],
      },
    },
  ])
  expect(asked[0]?.tools).toMatchObject([{ type: 'provider', id: 'x.search' }])
})

test('fromAiSdk() ignores unknown parts of a reply', async () => {
  const parts = [
    { type: 'ping' },
    { type: 'hologram-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Hi' },
    { type: 'hologram', data: 'x' },
    { type: 'raw', rawValue: {} },
    { type: 'text-delta', id: '1', delta: '' },
    { type: 'text-delta', id: '1', delta: '!' },
    { type: 'finish', finishReason: 'brand-new', usage: undefined },
  ]
  const model = {
    specificationVersion: 'v4',
    provider: 'new.messages',
    modelId: 'new-1',
    supportedUrls: {},
    doGenerate: async () => ({
      content: [{ type: 'hologram' }, { type: 'text', text: 'Hi!' }],
      finishReason: 7,
      usage: 8,
    }),
    doStream: async () => ({
      stream: new ReadableStream<{ type: string }>({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      }),
    }),
  }
  for (const stream of [true, false]) {
    const { whole } = await ask(fromAiSdk(model), request([user('?')]), { stream })
    expect(whole).toMatchObject({ content: { parts: [{ text: 'Hi!' }] }, finishReason: 'OTHER' })
    expect(whole.usageMetadata).toBeUndefined()
  }
})

import { describe, expect, test } from 'vitest'
import { ProviderServer, type Reply, truncateAfter } from '../../../../test/providers/provider-server.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import { textOf } from '../../../core/content/content.ts'
import type { AiSdkModel, AiSdkPart } from '../ai-sdk-types.ts'
import { fromAiSdk } from '../from-ai-sdk.ts'
import { ask, providers, request, user } from '../providers.test-kit.ts'

type AnyPart = AiSdkPart & JsonObject

/** A model whose stream has these parts. */
function streaming(specificationVersion: string, parts: readonly AnyPart[]): AiSdkModel {
  const stream = (): ReadableStream<AiSdkPart> =>
    new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })
  return {
    specificationVersion,
    provider: 'custom',
    modelId: 'm',
    doGenerate: () => Promise.reject(new Error('not asked')),
    doStream: async () => ({ stream: stream() }),
  }
}

const said = { type: 'text-delta', id: '1', delta: 'Hi' }
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{}' }
const raw = (rawValue: object): AnyPart => ({ type: 'raw', rawValue })
const finish = (finishReason: unknown): AnyPart => ({ type: 'finish', finishReason, usage: {} })
const eos = raw({ choices: [{ finish_reason: 'eos' }] })

describe('fromAiSdk() detects a stream that broke off', () => {
  test.each<[string, string, readonly AnyPart[]]>([
    ['no finish part', 'v3', [said]],
    ['version 2: finish reason unknown', 'v2', [said, finish('unknown')]],
    [
      'version 2: finish reason unknown without a reason in the raw chunks',
      'v2',
      [said, raw({ choices: [{ delta: {} }] }), finish('unknown')],
    ],
    ['version 3: finish reason other', 'v3', [said, finish({ unified: 'other', raw: undefined })]],
    ['a finish reason that the package made up', 'v3', [said, finish({ unified: 'other', raw: 'other' })]],
    [
      'calls without a reason in the raw chunks',
      'v3',
      [call, raw({ done: false }), finish({ unified: 'tool-calls', raw: 'x' })],
    ],
    [
      'a reason only in the arguments of a call',
      'v3',
      [
        call,
        raw({ tool_calls: [{ function: { arguments: { stop_reason: 'x', done: true } } }] }),
        finish('tool-calls'),
      ],
    ],
    [
      'incomplete arguments',
      'v4',
      [{ type: 'tool-input-start', id: 'c1', toolName: 'add' }, finish({ unified: 'stop', raw: 'stop' })],
    ],
    ['finish reason interrupted', 'v4', [said, finish({ unified: 'interrupted', raw: undefined })]],
  ])('%s', async (_, version, parts) => {
    const asking = ask(fromAiSdk(streaming(version, parts), { maxRetries: 0 }), request([user('?')]), { stream: true })
    await expect(asking).rejects.toThrow('was cut off before its end')
  })
})

describe('fromAiSdk() accepts a stream that the provider completed', () => {
  test.each<[string, string, readonly AnyPart[]]>([
    ['version 2: finish reason stop', 'v2', [said, finish('stop')]],
    ['version 2: an unknown reason in the raw chunks', 'v2', [said, eos, finish('unknown')]],
    [
      'version 2: finish reason other',
      'v2',
      [said, raw({ candidates: [{ finishReason: 'LANGUAGE' }] }), finish('other')],
    ],
    ['version 3: a finish reason of the provider', 'v3', [said, finish({ unified: 'other', raw: 'eos' })]],
    ['version 3: finish reason stop without a raw reason', 'v3', [said, finish({ unified: 'stop', raw: undefined })]],
    ['calls without raw chunks', 'v3', [call, finish({ unified: 'tool-calls', raw: undefined })]],
    ['calls and the last event', 'v4', [call, raw({ type: 'response.completed' }), finish({ unified: 'tool-calls' })]],
    [
      'a token limit inside arguments',
      'v4',
      [said, { type: 'tool-input-start', id: 'c1', toolName: 'add' }, finish({ unified: 'length', raw: 'length' })],
    ],
    [
      'complete arguments',
      'v4',
      [
        { type: 'tool-input-start', id: 'c1', toolName: 'add' },
        call,
        finish({ unified: 'tool-calls', raw: 'tool_calls' }),
      ],
    ],
  ])('%s', async (_, version, parts) => {
    const model = fromAiSdk(streaming(version, parts), { maxRetries: 0 })
    const { whole } = await ask(model, request([user('?')]), { stream: true })
    expect(whole.content?.parts.length).toBeGreaterThan(0)
  })
})

test('fromAiSdk() throws when the provider ends its reply with an error', async () => {
  const finishReason = { unified: 'error', raw: undefined }
  const streamed = streaming('v3', [said, finish(finishReason)])
  const whole = { content: [{ type: 'text', text: 'Hi' }], finishReason, usage: {}, warnings: [] }
  const model = { ...streamed, doGenerate: async () => whole }
  for (const stream of [true, false])
    await expect(ask(fromAiSdk(model, { maxRetries: 0 }), request([user('?')]), { stream })).rejects.toThrow(
      'custom ended its reply with an error. The reply was not used.',
    )
})

test('fromAiSdk() accepts a reply of Ollama that has done but no finish reason', async () => {
  const ollama = providers.find(({ name }) => name === 'ollama')
  if (!ollama) throw new Error('There is no provider "ollama".')
  const whole = ollama.say({ text: 'Hi.' })
  const reply: Reply = (asked) => {
    const sent = typeof whole === 'function' ? whole(asked) : whole
    const events = [...(sent.events ?? [])].map((event) => ({ ...Object(event), done_reason: undefined }))
    return { ...sent, events }
  }
  await using server = await ProviderServer.start([reply, truncateAfter(reply, 'Hi.', {})])
  const model = fromAiSdk(ollama.model(server.url), { maxRetries: 0 })
  const { whole: received } = await ask(model, request([user('?')]), { stream: true })
  expect(textOf(received.content)).toBe('Hi.')
  await expect(ask(model, request([user('?')]), { stream: true })).rejects.toThrow('cut off')
})

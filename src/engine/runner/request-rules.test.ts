import { expect, test } from 'vitest'
import type { Content, Message } from '../../core/content/content.ts'
import { toContent } from './request-rules.ts'

test.each<[string, Message]>([
  ['a text', 'Hi'],
  ['parts', [{ text: 'Hi' }]],
  ['a content', { role: 'user', parts: [{ text: 'Hi' }] }],
  ['a content with the role model', { role: 'model', parts: [{ text: 'Hi' }] }],
])('toContent() turns %s into content with the role user', (_, message) => {
  expect(toContent(message)).toEqual({ role: 'user', parts: [{ text: 'Hi' }] })
})

test('toContent() accepts media, files and results', () => {
  const parts = [
    { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    { fileData: { fileUri: 'gs://x' } },
    { functionResponse: { id: '1', name: 'n', response: {} } },
  ]
  expect(toContent(parts).parts).toEqual(parts)
})

test('toContent() copies the message, so that later changes have no effect', () => {
  const message = { role: 'user', parts: [{ text: 'Hi', partMetadata: { a: 1 } }] } as const
  const content = toContent(message)
  ;(message.parts[0].partMetadata as { a: number }).a = 2
  expect(content.parts[0]?.partMetadata).toEqual({ a: 1 })
})

test('toContent() drops every member of a content except its parts', () => {
  const message = { role: 'user', parts: [{ text: 'Hi' }], secret: 1 } as Content
  expect(toContent(message)).toEqual({ role: 'user', parts: [{ text: 'Hi' }] })
})

const deep = (levels: number): object => {
  let inner: object = {}
  for (let at = 0; at < levels; at++) inner = { a: inner }
  return inner
}

test.each([
  ['a call', [{ functionCall: { name: 'x', args: {} } }], 'only a model calls tools'],
  ['a call with text', [{ text: 'x', functionCall: { name: 'x', args: {} } }], 'only a model calls tools'],
  ['undefined', undefined, 'A message must be'],
  ['null', null, 'A message must be'],
  ['an empty list', [], 'A message must be'],
  ['a list of null', [null], 'A message must be'],
  ['a list of lists', [[{ text: 'x' }]], 'A message must be'],
  ['an empty part', [{}], 'A message must be'],
  ['a text that is an object', [{ text: { a: 1 } }], 'A message must be'],
  ['parts that are an object', { role: 'user', parts: { text: 'x' } }, 'A message must be'],
  ['a functionResponse that is true', [{ functionResponse: true }], 'functionResponse must be an object, got true'],
  ['a part nested 100,000 levels deep', [{ text: 'x', partMetadata: deep(100_000) }], 'nested too deep'],
])('toContent() rejects %s', (_, message, why) => {
  expect(() => toContent(message as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(why) }),
  )
})

test('toContent() rejects a message that throws while it is read, with the reason', () => {
  const part = {
    get text(): string {
      throw new Error('The upload is gone.')
    },
  }
  expect(() => toContent([part])).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', message: 'The message cannot be read: The upload is gone.' }),
  )
})

test.each([
  ['model messages of the AI SDK', [{ role: 'user', content: 'Hi' }]],
  ['UI messages of the AI SDK', [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]],
  ['one model message of the AI SDK', { role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
])('toContent() rejects %s and says what to pass instead', (_, message) => {
  expect(() => toContent(message as never)).toThrow(/\{ role, content \}.*Pass only the new message of the user/)
})

test.each([
  ['mimeType', { inlineData: { mimeType: 5, data: 'AAAA' } }],
  ['data', { inlineData: { mimeType: 'image/png', data: { bytes: [1] } } }],
  ['displayName', { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: [] } }],
  ['fileUri', { fileData: { mimeType: 'image/png', fileUri: null } }],
])('toContent() rejects a file whose %s is not a string, with the shape of a file', (member, part) => {
  expect(() => toContent([part] as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(
        new RegExp(`${member} must be a string, got .*inlineData: \\{ mimeType, data \\}`),
      ),
    }),
  )
})

test('toContent() accepts files with all their members unchanged', () => {
  const parts = [
    { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
    { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } },
  ]
  expect(toContent(parts)).toEqual({ role: 'user', parts })
})

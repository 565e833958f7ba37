import { expect, test } from 'vitest'
import type { Content, Message } from '../content/content.ts'
import { toContent } from './message.ts'

test.each<[string, Message]>([
  ['a text', 'Hi'],
  ['parts', [{ text: 'Hi' }]],
  ['a content', { role: 'user', parts: [{ text: 'Hi' }] }],
  ['a content in another’s name', { role: 'model', parts: [{ text: 'Hi' }] }],
])('%s becomes what a user said', (_, message) => {
  expect(toContent(message)).toEqual({ role: 'user', parts: [{ text: 'Hi' }] })
})

test('media, files and results are let through', () => {
  const parts = [
    { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    { fileData: { fileUri: 'gs://x' } },
    { functionResponse: { id: '1', name: 'n', response: {} } },
  ]
  expect(toContent(parts).parts).toEqual(parts)
})

test('later changes to what was passed do not change what was said', () => {
  const message = { role: 'user', parts: [{ text: 'Hi', partMetadata: { a: 1 } }] } as const
  const content = toContent(message)
  ;(message.parts[0].partMetadata as { a: number }).a = 2
  expect(content.parts[0]?.partMetadata).toEqual({ a: 1 })
})

test('only parts of a content are kept', () => {
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
  ['nothing', undefined, 'A message is'],
  ['null', null, 'A message is'],
  ['a list of nothing', [], 'A message is'],
  ['a list of null', [null], 'A message is'],
  ['a list of lists', [[{ text: 'x' }]], 'A message is'],
  ['an empty part', [{}], 'A message is'],
  ['text that is no text', [{ text: { a: 1 } }], 'A message is'],
  ['parts that are no list', { role: 'user', parts: { text: 'x' } }, 'A message is'],
  ['a response that is no object', [{ functionResponse: true }], 'A functionResponse is'],
  ['something without end', [{ text: 'x', partMetadata: deep(100_000) }], 'nested too deep'],
])('%s is refused', (_, message, why) => {
  expect(() => toContent(message as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(why) }),
  )
})

test('a message that throws while it is read is INVALID_REQUEST and says why', () => {
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
  ['messages of the AI SDK', [{ role: 'user', content: 'Hi' }]],
  ['messages of its chat interface', [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]],
  ['one message of the AI SDK', { role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
])('%s are refused with what to pass instead', (_, message) => {
  expect(() => toContent(message as never)).toThrow(/\{ role, content \}.*Pass only what the user says now/)
})

test.each([
  ['mimeType', { inlineData: { mimeType: 5, data: 'AAAA' } }],
  ['data', { inlineData: { mimeType: 'image/png', data: { bytes: [1] } } }],
  ['displayName', { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: [] } }],
  ['fileUri', { fileData: { mimeType: 'image/png', fileUri: null } }],
])('a file whose %s is no string is refused with the shape of a file', (member, part) => {
  expect(() => toContent([part] as never)).toThrow(
    expect.objectContaining({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(new RegExp(`^The ${member} of a file .*inlineData: \\{ mimeType, data \\}`)),
    }),
  )
})

test('files with all their members are taken as they are', () => {
  const parts = [
    { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
    { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } },
  ]
  expect(toContent(parts)).toEqual({ role: 'user', parts })
})

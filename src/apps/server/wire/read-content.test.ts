import { expect, test } from 'vitest'
import { readContent } from './read-content.ts'

/** The shortest of a few times, in milliseconds. */
function time(work: () => unknown): number {
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return Math.min(...times)
}

test('a message with tens of thousands of parts is read about as fast as its JSON', () => {
  const text = JSON.stringify({ role: 'user', parts: Array(40_000).fill({ text: 'x' }) })
  const message: unknown = JSON.parse(text)
  expect(time(() => readContent(message, 'newMessage'))).toBeLessThan(10 * time(() => JSON.parse(text)))
})

test('parts are read in both spellings, and not in two at once', () => {
  const parts = [{ inline_data: { mime_type: 'image/png', data: '_-==' } }, { inlineData: { mimeType: 'image/png' } }]
  expect(readContent({ parts }, 'newMessage').parts).toEqual([
    { inlineData: { mimeType: 'image/png', data: '/+==' } },
    { inlineData: { mimeType: 'image/png' } },
  ])
  const twice = { parts: [{ file_data: {}, fileData: {} }] }
  expect(() => readContent(twice, 'newMessage')).toThrow('newMessage.parts.0 has fileData twice')
})

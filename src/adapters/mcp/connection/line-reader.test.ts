import { expect, test } from 'vitest'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import { LineReader } from './line-reader.ts'

function read(...chunks: (string | Uint8Array)[]): string[] {
  const lines: string[] = []
  const reader = new LineReader((line) => lines.push(line))
  for (const chunk of chunks) reader.add(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk)
  return lines
}

test('reports complete lines only, however they are split', () => {
  expect(read('one\ntw', 'o\n', '\n  \nthree\nrest')).toEqual(['one', 'two', 'three'])
  expect(read(...'ab\ncd\n'.split(''))).toEqual(['ab', 'cd'])
})

test('joins a character that is split between chunks', () => {
  const bytes = new TextEncoder().encode('\u{1f600}\n')
  expect(read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(['\u{1f600}'])
})

test('throws when a line is too long, and accepts one that is as long as allowed', () => {
  const most = new Uint8Array(MAX_MESSAGE_BYTES).fill(120)
  expect(read(most, '\n')[0]).toHaveLength(MAX_MESSAGE_BYTES)
  expect(() => read(most, 'x')).toThrow(`more than ${MAX_MESSAGE_BYTES} bytes`)
})

test('a flood of lines in one chunk lets timers run between them, and no line is lost', async () => {
  let seen = 0
  let atTimer = 0
  setTimeout(() => {
    atTimer = seen
  }, 0)
  const count = 200_000
  const reader = new LineReader((line) => {
    JSON.parse(line)
    seen++
  })
  await reader.add(new TextEncoder().encode('{"method":"notifications/message"}\n'.repeat(count)))
  expect(seen).toBe(count)
  expect(atTimer).toBeGreaterThan(0)
  expect(atTimer).toBeLessThan(count)
})

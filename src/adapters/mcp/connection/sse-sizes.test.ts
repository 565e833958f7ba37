import { expect, test } from 'vitest'
import { SseSizes } from './sse-sizes.ts'

function sizes(...chunks: string[]): number[] {
  const counter = new SseSizes()
  return chunks.map((chunk) => counter.add(new TextEncoder().encode(chunk)))
}

test.each(['\n', '\r', '\r\n'])('an empty line ends an event (line end %j)', (end) => {
  const event = `data: ab${end}${end}`
  const [first, second] = sizes(event.repeat(100), event)
  expect(first).toBeLessThanOrEqual(event.length + 1)
  expect(second).toBeLessThanOrEqual(event.length + 1)
})

test('lines of one event add up, also in many chunks', () => {
  expect(sizes('data: abcd\n', 'data: abcd\n', 'data: abcd\n')).toEqual([11, 22, 33])
  expect(sizes('d', 'a', 't')).toEqual([1, 2, 3])
})

test.each([
  ['id: 1\ndata: x\n\n', true],
  ['data: x\nid:1\n\n', true],
  ['data: id: 1\n\n', false],
  ['xid: 1\n\n', false],
  ['i: d\nd: 1\n\n', false],
])('tells whether an event has an id: %j', (text, hasIds) => {
  const counter = new SseSizes()
  for (const character of text) counter.add(new TextEncoder().encode(character))
  expect(counter.hasIds).toBe(hasIds)
})

import { expect, test } from 'vitest'
import fc from '../../../core/base/fast-check.test-kit.ts'
import { MarkedStream } from './marked-stream.ts'

function split(chunks: readonly string[], marks: readonly string[]): string[] {
  const parts = marks.concat('').map(() => '')
  const stream = new MarkedStream(
    marks,
    parts.map((_, at) => (chunk: Uint8Array) => {
      parts[at] += Buffer.from(chunk).toString()
    }),
  )
  for (const chunk of chunks) stream.push(Buffer.from(chunk))
  stream.end()
  return parts
}

test('MarkedStream splits a stream at its marks', () => {
  expect(split(['before--MARK--middle--MARK--end'], ['--MARK--', '--MARK--'])).toEqual(['before', 'middle', 'end'])
})

test('MarkedStream splits a stream at its marks in chunks of any size', () => {
  const text = 'before--MARK--mid--MAdle--MARK--end--MARK--'
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length]
      const chunks = at.slice(1).map((end, i) => text.slice(at[i], end))
      expect(split(chunks, ['--MARK--', '--MARK--'])).toEqual(['before', 'mid--MAdle', 'end--MARK--'])
    }),
  )
})

test('MarkedStream keeps the beginning of a mark in the output when the mark is incomplete', () => {
  expect(split(['abc--MA'], ['--MARK--'])).toEqual(['abc--MA', ''])
})

import { expect, test } from 'vitest'
import { type Part, partsSize } from './content.ts'

const LARGE = 'x'.repeat(1_000)

test.each<[string, Part]>([
  ['text', { text: LARGE }],
  ['a thought', { text: LARGE, thought: true }],
  ['the signature beside a text', { text: '', thoughtSignature: LARGE }],
  ['metadata beside a text', { text: '', partMetadata: { note: LARGE } } as Part],
  ['inline data', { inlineData: { mimeType: 'image/png', data: LARGE } }],
  ['the arguments of a call', { functionCall: { id: '1', name: 'a', args: { all: LARGE } } }],
])('partsSize() counts %s', (_what, part) => {
  const bytes = partsSize([part, part], 1_000_000)
  expect(bytes).toBeGreaterThan(2_000)
  expect(Math.abs(bytes - JSON.stringify([part, part]).length)).toBeLessThan(50)
})

test('partsSize() stops counting above the limit', () => {
  const parts = Array.from({ length: 10_000 }, () => ({ text: LARGE }))
  expect(partsSize(parts, 5_000)).toBeLessThan(10_000)
})

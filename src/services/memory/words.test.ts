import { expect, test } from 'vitest'
import { splitWords } from './words.ts'

test('splitWords() splits text into lower-case words without punctuation', () => {
  expect([...splitWords('Hello, WORLD! It’s 3.5 km.')]).toEqual(['hello', 'world', 'it’s', '3.5', 'km'])
  expect([...splitWords('ＦＵＬＬ ﬁne cafe\u0301')]).toEqual(['full', 'fine', 'café'])
})

test('splitWords() splits scripts without spaces into words', () => {
  expect([...splitWords('東京の天気')]).toEqual(['東京', 'の', '天気'])
})

test('splitWords() returns no words for a text without words', () => {
  expect([...splitWords(' … 🍎 --- \ud800')]).toEqual([])
})

test('splitWords() cuts no word of a long text, and splits one without spaces', () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `word${n}`)
  expect([...splitWords(words.join(' '))]).toEqual(words)
  expect([...splitWords('x'.repeat(25_000))].join('')).toBe('x'.repeat(25_000))
  expect([...splitWords(`x${'\u{20000}'.repeat(12_000)}`)].join('')).toBe(`x${'\u{20000}'.repeat(12_000)}`)
})

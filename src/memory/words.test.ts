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

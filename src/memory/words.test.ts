import { expect, test } from 'vitest'
import { splitWords } from './words.ts'

test('words are lower case, without punctuation, in one spelling', () => {
  expect([...splitWords('Hello, WORLD! It’s 3.5 km.')]).toEqual(['hello', 'world', 'it’s', '3.5', 'km'])
  expect([...splitWords('ＦＵＬＬ ﬁne cafe\u0301')]).toEqual(['full', 'fine', 'café'])
})

test('scripts without spaces are split into words', () => {
  expect([...splitWords('東京の天気')]).toEqual(['東京', 'の', '天気'])
})

test('text without words has none', () => {
  expect([...splitWords(' … 🍎 --- \ud800')]).toEqual([])
})

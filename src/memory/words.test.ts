import { expect, test } from 'vitest'
import { wordsOf } from './words.ts'

test('words are lower case, without punctuation, in one spelling', () => {
  expect([...wordsOf('Hello, WORLD! It’s 3.5 km.')]).toEqual(['hello', 'world', 'it’s', '3.5', 'km'])
  expect([...wordsOf('ＦＵＬＬ ﬁne cafe\u0301')]).toEqual(['full', 'fine', 'café'])
})

test('scripts without spaces are split into words', () => {
  expect([...wordsOf('東京の天気')]).toEqual(['東京', 'の', '天気'])
})

test('text without words has none', () => {
  expect([...wordsOf(' … 🍎 --- \ud800')]).toEqual([])
})

import { expect, test } from 'vitest'
import { answered, type Case, called, replied, said } from './histories.test-kit.ts'
import { openAiHistoryProblems } from './openai.ts'

const fine = [said('hi'), called('a', 'b'), answered('a', 'b')]
const single = [said('hi'), called('a'), answered('a')]
const long = 'x'.repeat(65)

const cases: readonly Case[] = [
  [
    'every call is answered',
    [said('hi'), called('a', 'b'), answered('a')],
    fine,
    'the end comes before the response to look (b)',
  ],
  [
    'before anything else is said',
    [said('hi'), called('a'), said('and?'), answered('a')],
    [said('hi'), called('a'), answered('a'), said('and?')],
    'contents[2] comes before the response to look (a)',
  ],
  [
    'also by the model',
    [said('hi'), called('a'), replied('wait'), answered('a')],
    [...single, replied('wait')],
    'contents[2] comes before',
  ],
  [
    'and once',
    [said('hi'), called('a'), answered('a', 'a')],
    single,
    'contents[2]: the response look (a) answers no open call',
  ],
  [
    'not before it is called',
    [said('hi'), answered('a'), called('a')],
    single,
    'contents[1]: the response look (a) answers no open call',
  ],
  [
    'nothing is answered that was not called',
    [said('hi'), answered('a')],
    single,
    'contents[1]: the response look (a)',
  ],
  [
    'calls have ids',
    [said('hi'), called({ name: 'look' }), answered({ name: 'look' })],
    single,
    'contents[1]: the call of look has no id',
  ],
  [
    'an id is used once',
    [...single, called('a'), answered('a')],
    [...single, called('b'), answered('b')],
    'contents[3]: the id a is used twice',
  ],
  ['an id is not too long', [said('hi'), called(long), answered(long)], single, 'is longer than 64'],
  [
    'names are made of letters, digits, _ and -',
    [said('hi'), called({ id: 'a', name: 'look up' }), answered({ id: 'a', name: 'look up' })],
    single,
    'contents[1]: the name "look up" must match',
  ],
]

test.each(cases)('%s', (_rule, broken, repaired, words) => {
  expect(openAiHistoryProblems(broken)).toContainEqual(expect.stringContaining(words))
  expect(openAiHistoryProblems(repaired)).toEqual([])
})

test('responses may come in several contents, with their media, and in any order', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
  const [b, a] = [answered('b'), answered('a')]
  expect(openAiHistoryProblems([said('hi'), called('a', 'b'), b, a])).toEqual([])
  const withMedia = { role: 'tool' as const, parts: [...a.parts, image, ...b.parts] }
  expect(openAiHistoryProblems([said('hi'), called('a', 'b'), withMedia])).toEqual([])
})

test('the model may have the last word, and the first', () => {
  expect(openAiHistoryProblems([replied('hello')])).toEqual([])
})

import { expect, test } from 'vitest'
import { anthropicHistoryProblems } from './anthropic.ts'
import { answered, type Case, called, replied, said } from './histories.test-kit.ts'

const fine = [said('hi'), called('a', 'b'), answered('a', 'b')]
const single = [said('hi'), called('a'), answered('a')]

const cases: readonly Case[] = [
  [
    'the user speaks first',
    [replied('hello'), said('hi')],
    [said('hi'), replied('hello')],
    'contents[0]: the first message',
  ],
  ['every call is answered', [said('hi'), called('a', 'b'), answered('a')], fine, 'contents[1]: no result of look (b)'],
  [
    'in the very next message',
    [said('hi'), called('a'), said('and?'), replied('wait'), answered('a')],
    [said('hi'), called('a'), answered('a'), said('and?'), replied('wait')],
    'contents[1]: no result of look (a) in the message after it',
  ],
  [
    'before anything else in it',
    [said('hi'), called('a'), said('and?'), answered('a')],
    [said('hi'), called('a'), answered('a'), said('and?')],
    'contents[2]: results must come before anything else',
  ],
  ['and once', [said('hi'), called('a'), answered('a', 'a')], single, 'contents[1]: 2 results of look (a)'],
  [
    'nothing is answered that was not called',
    [said('hi'), answered('a')],
    single,
    'contents[0]: the result of look (a) has no call',
  ],
  [
    'an id is used once',
    [...single, called('a'), answered('a')],
    [...single, called('b'), answered('b')],
    'contents[3]: the id of look (a) is used twice',
  ],
  [
    'ids are made of letters, digits, _ and -',
    [said('hi'), called('look:0'), answered('look:0')],
    single,
    'the id of look (look:0) must match',
  ],
  [
    'calls have ids',
    [said('hi'), called({ name: 'look' }), answered({ name: 'look' })],
    single,
    'the id of look (without an id)',
  ],
  [
    'so are names',
    [said('hi'), called({ id: 'a', name: 'look.up' }), answered({ id: 'a', name: 'look.up' })],
    single,
    'the name "look.up" must match',
  ],
  [
    'a text says something',
    [said('hi'), { role: 'model', parts: [{ text: '' }, ...called('a').parts] }, answered('a')],
    single,
    'contents[1]: a text is empty',
  ],
  ['more than white space', [said(' \n')], [said('hi')], 'contents[0]: there is nothing but white space'],
  [
    'words put into the model’s mouth end with a word',
    [said('hi'), replied('It is ')],
    [said('hi'), replied('It is')],
    'ends with white space',
  ],
]

test.each(cases)('%s', (_rule, broken, repaired, words) => {
  expect(anthropicHistoryProblems(broken)).toContainEqual(expect.stringContaining(words))
  expect(anthropicHistoryProblems(repaired)).toEqual([])
})

test('what one side says in a row is one message', () => {
  expect(
    anthropicHistoryProblems([
      said('hi'),
      said('there'),
      replied('wait'),
      called('a', 'b'),
      answered('a'),
      answered('b'),
      said('and?'),
    ]),
  ).toEqual([])
})

test('white space beside words, and a thought without a word, are fine', () => {
  expect(
    anthropicHistoryProblems([said('hi'), { role: 'model', parts: [{ text: '\n' }, { text: 'yes' }] }, said('so')]),
  ).toEqual([])
  expect(
    anthropicHistoryProblems([said('hi'), { role: 'model', parts: [{ text: '', thought: true }] }, said('so')]),
  ).toEqual([])
})

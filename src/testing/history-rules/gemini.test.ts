import { expect, test } from 'vitest'
import { geminiHistoryProblems } from './gemini.ts'
import { answered, type Case, called, replied, said } from './histories.test-kit.ts'

const look = { name: 'look' }
const find = { name: 'find' }
const fine = [said('hi'), called('a', 'b'), answered('a', 'b')]

const cases: readonly Case[] = [
  [
    'the user speaks first',
    [replied('hello'), said('hi')],
    [said('hi'), replied('hello'), said('hi')],
    'contents[0]: the first',
  ],
  [
    'the model does not speak last',
    [said('hi'), replied('yes')],
    [said('hi'), replied('yes'), said('go on')],
    'contents[1]: the last',
  ],
  ['a text says something', [said('')], [said('hi')], 'contents[0]: a text is empty'],
  [
    'responses follow at once',
    [said('hi'), called('a'), said('and?'), answered('a')],
    [said('hi'), called('a'), answered('a'), said('and?')],
    'contents[1]: responses to look (a) must follow in the next turn',
  ],
  [
    'every call is answered',
    [said('hi'), called('a', 'b'), answered('a')],
    fine,
    'look (a), look (b) are answered by look (a)',
  ],
  [
    'no call is answered twice',
    [said('hi'), called('a'), answered('a', 'a')],
    [said('hi'), called('a'), answered('a')],
    'one response for each call',
  ],
  [
    'the responses to one turn are one turn',
    [said('hi'), called('a', 'b'), answered('a'), answered('b')],
    fine,
    'contents[1]: the calls look (a), look (b) are answered by look (a)',
  ],
  [
    'responses have the names of the calls',
    [said('hi'), called(look), answered(find)],
    [said('hi'), called(look), answered(look)],
    'answered by find',
  ],
  [
    'and their ids',
    [said('hi'), called('a'), answered('b')],
    [said('hi'), called('a'), answered('a')],
    'look (a) are answered by look (b)',
  ],
  [
    'nothing is answered that was not called',
    [said('hi'), answered('a')],
    [said('hi'), called('a'), answered('a')],
    'contents[1]: responses of look (a) must follow',
  ],
  [
    'a response does not come before its call',
    [said('hi'), answered('a'), called('a'), said('and?')],
    [said('hi'), called('a'), answered('a'), said('and?')],
    'contents[1]: responses of look (a) must follow',
  ],
  [
    'signatures of the current turn come back',
    [said('hi'), called({ ...look, signature: 's1' }), answered(look), called(look), answered(look)],
    [
      said('hi'),
      called({ ...look, signature: 's1' }),
      answered(look),
      called({ ...look, signature: 's2' }),
      answered(look),
    ],
    'contents[3]: the signature of look (without an id) is lost',
  ],
]

test.each(cases)('%s', (_rule, broken, repaired, words) => {
  expect(geminiHistoryProblems(broken)).toContainEqual(expect.stringContaining(words))
  expect(geminiHistoryProblems(repaired)).toEqual([])
})

test('what the model says twice in a row is one turn', () => {
  expect(geminiHistoryProblems([said('hi'), replied('wait'), called('a'), answered('a')])).toEqual([])
  expect(geminiHistoryProblems([said('hi'), called('a'), called('b'), answered('a', 'b')])).toEqual([])
})

test('of calls made at once the first is signed, and earlier turns need no signature', () => {
  const signed = { ...look, signature: 's' }
  const earlier = [said('hi'), called(look), answered(look), replied('yes')]
  expect(geminiHistoryProblems([...earlier, said('again'), called(signed, find), answered(look, find)])).toEqual([])
})

test('every broken rule is told, not only the first', () => {
  const problems = geminiHistoryProblems([replied(''), said(''), called('a')])
  expect(problems.map((problem) => problem.slice(0, 11))).toEqual([
    'contents[0]',
    'contents[1]',
    'contents[0]',
    'contents[2]',
    'contents[2]',
  ])
})

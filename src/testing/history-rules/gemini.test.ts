import { expect, test } from 'vitest'
import { modelCalls, modelText, type RuleCase, toolResults, userText } from './contents.test-kit.ts'
import { geminiHistoryProblems } from './gemini.ts'

const look = { name: 'look' }
const find = { name: 'find' }
const fine = [userText('hi'), modelCalls('a', 'b'), toolResults('a', 'b')]

const cases: readonly RuleCase[] = [
  [
    'the user speaks first',
    [modelText('hello'), userText('hi')],
    [userText('hi'), modelText('hello'), userText('hi')],
    'contents[0]: the first',
  ],
  [
    'the model does not speak last',
    [userText('hi'), modelText('yes')],
    [userText('hi'), modelText('yes'), userText('go on')],
    'contents[1]: the last',
  ],
  ['a text says something', [userText('')], [userText('hi')], 'contents[0]: a text is empty'],
  [
    'responses follow at once',
    [userText('hi'), modelCalls('a'), userText('and?'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[1]: responses to look (a) must follow in the next turn',
  ],
  [
    'every call is answered',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a')],
    fine,
    'look (a), look (b) are answered by look (a)',
  ],
  [
    'no call is answered twice',
    [userText('hi'), modelCalls('a'), toolResults('a', 'a')],
    [userText('hi'), modelCalls('a'), toolResults('a')],
    'one response for each call',
  ],
  [
    'the responses to one turn are one turn',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a'), toolResults('b')],
    fine,
    'contents[1]: the calls look (a), look (b) are answered by look (a)',
  ],
  [
    'responses have the names of the calls',
    [userText('hi'), modelCalls(look), toolResults(find)],
    [userText('hi'), modelCalls(look), toolResults(look)],
    'answered by find',
  ],
  [
    'and their ids',
    [userText('hi'), modelCalls('a'), toolResults('b')],
    [userText('hi'), modelCalls('a'), toolResults('a')],
    'look (a) are answered by look (b)',
  ],
  [
    'nothing is answered that was not called',
    [userText('hi'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a')],
    'contents[1]: responses of look (a) must follow',
  ],
  [
    'a response does not come before its call',
    [userText('hi'), toolResults('a'), modelCalls('a'), userText('and?')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[1]: responses of look (a) must follow',
  ],
  [
    'signatures of the current turn come back',
    [userText('hi'), modelCalls({ ...look, signature: 's1' }), toolResults(look), modelCalls(look), toolResults(look)],
    [
      userText('hi'),
      modelCalls({ ...look, signature: 's1' }),
      toolResults(look),
      modelCalls({ ...look, signature: 's2' }),
      toolResults(look),
    ],
    'contents[3]: the signature of look (without an id) is lost',
  ],
]

test.each(cases)('%s', (_rule, broken, repaired, words) => {
  expect(geminiHistoryProblems(broken)).toContainEqual(expect.stringContaining(words))
  expect(geminiHistoryProblems(repaired)).toEqual([])
})

test('what the model says twice in a row is one turn', () => {
  expect(geminiHistoryProblems([userText('hi'), modelText('wait'), modelCalls('a'), toolResults('a')])).toEqual([])
  expect(geminiHistoryProblems([userText('hi'), modelCalls('a'), modelCalls('b'), toolResults('a', 'b')])).toEqual([])
})

test('of calls made at once the first is signed, and earlier turns need no signature', () => {
  const signed = { ...look, signature: 's' }
  const earlier = [userText('hi'), modelCalls(look), toolResults(look), modelText('yes')]
  expect(
    geminiHistoryProblems([...earlier, userText('again'), modelCalls(signed, find), toolResults(look, find)]),
  ).toEqual([])
})

test('every broken rule is told, not only the first', () => {
  const problems = geminiHistoryProblems([modelText(''), userText(''), modelCalls('a')])
  expect(problems.map((problem) => problem.slice(0, 11))).toEqual([
    'contents[0]',
    'contents[1]',
    'contents[0]',
    'contents[2]',
    'contents[2]',
  ])
})

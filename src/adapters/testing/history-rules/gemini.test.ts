import { expect, test } from 'vitest'
import { modelCalls, modelText, type RuleCase, toolResults, userText } from './contents.test-kit.ts'
import { geminiHistoryProblems } from './gemini.ts'

const look = { name: 'look' }
const find = { name: 'find' }
const fine = [userText('hi'), modelCalls('a', 'b'), toolResults('a', 'b')]

const cases: readonly RuleCase[] = [
  [
    'requires a user turn first',
    [modelText('hello'), userText('hi')],
    [userText('hi'), modelText('hello'), userText('hi')],
    'contents[0]: the first',
  ],
  [
    'rejects a model turn at the end',
    [userText('hi'), modelText('yes')],
    [userText('hi'), modelText('yes'), userText('go on')],
    'contents[1]: the last',
  ],
  ['rejects an empty text', [userText('')], [userText('hi')], 'contents[0]: a text is empty'],
  [
    'requires responses in the next turn',
    [userText('hi'), modelCalls('a'), userText('and?'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[1]: responses to look (a) must follow in the next turn',
  ],
  [
    'requires a response to every call',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a')],
    fine,
    'look (a), look (b) need one response each, got responses to look (a)',
  ],
  [
    'rejects two responses to one call',
    [userText('hi'), modelCalls('a'), toolResults('a', 'a')],
    [userText('hi'), modelCalls('a'), toolResults('a')],
    'need one response each',
  ],
  [
    'requires all responses in one turn',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a'), toolResults('b')],
    fine,
    'contents[1]: the calls look (a), look (b) need one response each, got responses to look (a)',
  ],
  [
    'requires responses with the names of the calls',
    [userText('hi'), modelCalls(look), toolResults(find)],
    [userText('hi'), modelCalls(look), toolResults(look)],
    'got responses to find',
  ],
  [
    'requires responses with the ids of the calls',
    [userText('hi'), modelCalls('a'), toolResults('b')],
    [userText('hi'), modelCalls('a'), toolResults('a')],
    'look (a) need one response each, got responses to look (b)',
  ],
  [
    'rejects a response without a call',
    [userText('hi'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a')],
    'contents[1]: responses of look (a) must follow',
  ],
  [
    'rejects a response before its call',
    [userText('hi'), toolResults('a'), modelCalls('a'), userText('and?')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[1]: responses of look (a) must follow',
  ],
  [
    'requires the signatures since the last user message',
    [userText('hi'), modelCalls({ ...look, signature: 's1' }), toolResults(look), modelCalls(look), toolResults(look)],
    [
      userText('hi'),
      modelCalls({ ...look, signature: 's1' }),
      toolResults(look),
      modelCalls({ ...look, signature: 's2' }),
      toolResults(look),
    ],
    'contents[3]: the signature of look (without an id) is missing',
  ],
]

test.each(cases)('geminiHistoryProblems() %s', (_rule, broken, repaired, message) => {
  expect(geminiHistoryProblems(broken)).toContainEqual(expect.stringContaining(message))
  expect(geminiHistoryProblems(repaired)).toEqual([])
})

test('geminiHistoryProblems() joins consecutive model turns', () => {
  expect(geminiHistoryProblems([userText('hi'), modelText('wait'), modelCalls('a'), toolResults('a')])).toEqual([])
  expect(geminiHistoryProblems([userText('hi'), modelCalls('a'), modelCalls('b'), toolResults('a', 'b')])).toEqual([])
})

test('geminiHistoryProblems() accepts a signature on the first call only, and none in earlier turns', () => {
  const signed = { ...look, signature: 's' }
  const earlier = [userText('hi'), modelCalls(look), toolResults(look), modelText('yes')]
  expect(
    geminiHistoryProblems([...earlier, userText('again'), modelCalls(signed, find), toolResults(look, find)]),
  ).toEqual([])
})

test('geminiHistoryProblems() reports every broken rule', () => {
  const problems = geminiHistoryProblems([modelText(''), userText(''), modelCalls('a')])
  expect(problems.map((problem) => problem.slice(0, 11))).toEqual([
    'contents[0]',
    'contents[1]',
    'contents[0]',
    'contents[2]',
    'contents[2]',
  ])
})

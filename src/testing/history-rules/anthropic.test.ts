import { expect, test } from 'vitest'
import { anthropicHistoryProblems } from './anthropic.ts'
import { modelCalls, modelText, type RuleCase, toolResults, userText } from './contents.test-kit.ts'

const fine = [userText('hi'), modelCalls('a', 'b'), toolResults('a', 'b')]
const single = [userText('hi'), modelCalls('a'), toolResults('a')]

const cases: readonly RuleCase[] = [
  [
    'the user speaks first',
    [modelText('hello'), userText('hi')],
    [userText('hi'), modelText('hello')],
    'contents[0]: the first message',
  ],
  [
    'every call is answered',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a')],
    fine,
    'contents[1]: no result of look (b)',
  ],
  [
    'in the very next message',
    [userText('hi'), modelCalls('a'), userText('and?'), modelText('wait'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?'), modelText('wait')],
    'contents[1]: no result of look (a) in the message after it',
  ],
  [
    'before anything else in it',
    [userText('hi'), modelCalls('a'), userText('and?'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[2]: results must come before anything else',
  ],
  ['and once', [userText('hi'), modelCalls('a'), toolResults('a', 'a')], single, 'contents[1]: 2 results of look (a)'],
  [
    'nothing is answered that was not called',
    [userText('hi'), toolResults('a')],
    single,
    'contents[0]: the result of look (a) has no call',
  ],
  [
    'an id is used once',
    [...single, modelCalls('a'), toolResults('a')],
    [...single, modelCalls('b'), toolResults('b')],
    'contents[3]: the id of look (a) is used twice',
  ],
  [
    'ids are made of letters, digits, _ and -',
    [userText('hi'), modelCalls('look:0'), toolResults('look:0')],
    single,
    'the id of look (look:0) must match',
  ],
  [
    'calls have ids',
    [userText('hi'), modelCalls({ name: 'look' }), toolResults({ name: 'look' })],
    single,
    'the id of look (without an id)',
  ],
  [
    'so are names',
    [userText('hi'), modelCalls({ id: 'a', name: 'look.up' }), toolResults({ id: 'a', name: 'look.up' })],
    single,
    'the name "look.up" must match',
  ],
  [
    'a text says something',
    [userText('hi'), { role: 'model', parts: [{ text: '' }, ...modelCalls('a').parts] }, toolResults('a')],
    single,
    'contents[1]: a text is empty',
  ],
  ['more than white space', [userText(' \n')], [userText('hi')], 'contents[0]: there is nothing but white space'],
  [
    'words put into the model’s mouth end with a word',
    [userText('hi'), modelText('It is ')],
    [userText('hi'), modelText('It is')],
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
      userText('hi'),
      userText('there'),
      modelText('wait'),
      modelCalls('a', 'b'),
      toolResults('a'),
      toolResults('b'),
      userText('and?'),
    ]),
  ).toEqual([])
})

test('white space beside words, and a thought without a word, are fine', () => {
  expect(
    anthropicHistoryProblems([
      userText('hi'),
      { role: 'model', parts: [{ text: '\n' }, { text: 'yes' }] },
      userText('so'),
    ]),
  ).toEqual([])
  expect(
    anthropicHistoryProblems([userText('hi'), { role: 'model', parts: [{ text: '', thought: true }] }, userText('so')]),
  ).toEqual([])
})

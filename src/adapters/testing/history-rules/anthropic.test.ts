import { expect, test } from 'vitest'
import { anthropicHistoryProblems } from './anthropic.ts'
import { modelCalls, modelText, type RuleCase, toolResults, userText } from './contents.test-kit.ts'

const fine = [userText('hi'), modelCalls('a', 'b'), toolResults('a', 'b')]
const single = [userText('hi'), modelCalls('a'), toolResults('a')]

const cases: readonly RuleCase[] = [
  [
    'requires a user message first',
    [modelText('hello'), userText('hi')],
    [userText('hi'), modelText('hello')],
    'contents[0]: the first message',
  ],
  [
    'requires a result for every call',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a')],
    fine,
    'contents[1]: no result of look (b)',
  ],
  [
    'requires results in the next message',
    [userText('hi'), modelCalls('a'), userText('and?'), modelText('wait'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?'), modelText('wait')],
    'contents[1]: no result of look (a) in the message after it',
  ],
  [
    'requires results before other parts of a message',
    [userText('hi'), modelCalls('a'), userText('and?'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[2]: results must be the first parts',
  ],
  [
    'rejects two results of one call',
    [userText('hi'), modelCalls('a'), toolResults('a', 'a')],
    single,
    'contents[1]: 2 results of look (a)',
  ],
  [
    'rejects a result without a call',
    [userText('hi'), toolResults('a')],
    single,
    'contents[0]: the result of look (a) has no call',
  ],
  [
    'rejects an id that is used twice',
    [...single, modelCalls('a'), toolResults('a')],
    [...single, modelCalls('b'), toolResults('b')],
    'contents[3]: the id of look (a) is used twice',
  ],
  [
    'rejects ids with other characters than letters, digits, _ and -',
    [userText('hi'), modelCalls('look:0'), toolResults('look:0')],
    single,
    'the id of look (look:0) must match',
  ],
  [
    'rejects a call without an id',
    [userText('hi'), modelCalls({ name: 'look' }), toolResults({ name: 'look' })],
    single,
    'the id of look (without an id)',
  ],
  [
    'rejects names with other characters than letters, digits, _ and -',
    [userText('hi'), modelCalls({ id: 'a', name: 'look.up' }), toolResults({ id: 'a', name: 'look.up' })],
    single,
    'the name "look.up" must match',
  ],
  [
    'rejects an empty text',
    [userText('hi'), { role: 'model', parts: [{ text: '' }, ...modelCalls('a').parts] }, toolResults('a')],
    single,
    'contents[1]: a text is empty',
  ],
  [
    'rejects a message of white space',
    [userText(' \n')],
    [userText('hi')],
    'contents[0]: the message has only white space',
  ],
  [
    'rejects a last model message that ends with white space',
    [userText('hi'), modelText('It is ')],
    [userText('hi'), modelText('It is')],
    'ends with white space',
  ],
]

test.each(cases)('anthropicHistoryProblems() %s', (_rule, broken, repaired, message) => {
  expect(anthropicHistoryProblems(broken)).toContainEqual(expect.stringContaining(message))
  expect(anthropicHistoryProblems(repaired)).toEqual([])
})

test('anthropicHistoryProblems() joins consecutive messages of one role', () => {
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

test('anthropicHistoryProblems() accepts white space next to text and an empty thought', () => {
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

import { expect, test } from 'vitest'
import { modelCalls, modelText, type RuleCase, toolResults, userText } from './contents.test-kit.ts'
import { openAiHistoryProblems } from './openai.ts'

const fine = [userText('hi'), modelCalls('a', 'b'), toolResults('a', 'b')]
const single = [userText('hi'), modelCalls('a'), toolResults('a')]
const long = 'x'.repeat(65)

const cases: readonly RuleCase[] = [
  [
    'requires a response to every call',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a')],
    fine,
    'the end comes before the response to look (b)',
  ],
  [
    'requires responses before the next user message',
    [userText('hi'), modelCalls('a'), userText('and?'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[2] comes before the response to look (a)',
  ],
  [
    'requires responses before the next model message',
    [userText('hi'), modelCalls('a'), modelText('wait'), toolResults('a')],
    [...single, modelText('wait')],
    'contents[2] comes before',
  ],
  [
    'rejects two responses to one call',
    [userText('hi'), modelCalls('a'), toolResults('a', 'a')],
    single,
    'contents[2]: the response look (a) answers no open call',
  ],
  [
    'rejects a response before its call',
    [userText('hi'), toolResults('a'), modelCalls('a')],
    single,
    'contents[1]: the response look (a) answers no open call',
  ],
  [
    'rejects a response without a call',
    [userText('hi'), toolResults('a')],
    single,
    'contents[1]: the response look (a)',
  ],
  [
    'rejects a call without an id',
    [userText('hi'), modelCalls({ name: 'look' }), toolResults({ name: 'look' })],
    single,
    'contents[1]: the call of look has no id',
  ],
  [
    'rejects an id that is used twice',
    [...single, modelCalls('a'), toolResults('a')],
    [...single, modelCalls('b'), toolResults('b')],
    'contents[3]: the id a is used twice',
  ],
  ['rejects a long id', [userText('hi'), modelCalls(long), toolResults(long)], single, 'is longer than 64'],
  [
    'rejects names with other characters than letters, digits, _ and -',
    [userText('hi'), modelCalls({ id: 'a', name: 'look up' }), toolResults({ id: 'a', name: 'look up' })],
    single,
    'contents[1]: the name "look up" must match',
  ],
]

test.each(cases)('openAiHistoryProblems() %s', (_rule, broken, repaired, message) => {
  expect(openAiHistoryProblems(broken)).toContainEqual(expect.stringContaining(message))
  expect(openAiHistoryProblems(repaired)).toEqual([])
})

test('openAiHistoryProblems() accepts responses in several contents, with media and in any order', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
  const [b, a] = [toolResults('b'), toolResults('a')]
  expect(openAiHistoryProblems([userText('hi'), modelCalls('a', 'b'), b, a])).toEqual([])
  const withMedia = { role: 'tool' as const, parts: [...a.parts, image, ...b.parts] }
  expect(openAiHistoryProblems([userText('hi'), modelCalls('a', 'b'), withMedia])).toEqual([])
})

test('openAiHistoryProblems() accepts a model message first and last', () => {
  expect(openAiHistoryProblems([modelText('hello')])).toEqual([])
})

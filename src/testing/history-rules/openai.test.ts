import { expect, test } from 'vitest'
import { modelCalls, modelText, type RuleCase, toolResults, userText } from './contents.test-kit.ts'
import { openAiHistoryProblems } from './openai.ts'

const fine = [userText('hi'), modelCalls('a', 'b'), toolResults('a', 'b')]
const single = [userText('hi'), modelCalls('a'), toolResults('a')]
const long = 'x'.repeat(65)

const cases: readonly RuleCase[] = [
  [
    'every call is answered',
    [userText('hi'), modelCalls('a', 'b'), toolResults('a')],
    fine,
    'the end comes before the response to look (b)',
  ],
  [
    'before anything else is said',
    [userText('hi'), modelCalls('a'), userText('and?'), toolResults('a')],
    [userText('hi'), modelCalls('a'), toolResults('a'), userText('and?')],
    'contents[2] comes before the response to look (a)',
  ],
  [
    'also by the model',
    [userText('hi'), modelCalls('a'), modelText('wait'), toolResults('a')],
    [...single, modelText('wait')],
    'contents[2] comes before',
  ],
  [
    'and once',
    [userText('hi'), modelCalls('a'), toolResults('a', 'a')],
    single,
    'contents[2]: the response look (a) answers no open call',
  ],
  [
    'not before it is called',
    [userText('hi'), toolResults('a'), modelCalls('a')],
    single,
    'contents[1]: the response look (a) answers no open call',
  ],
  [
    'nothing is answered that was not called',
    [userText('hi'), toolResults('a')],
    single,
    'contents[1]: the response look (a)',
  ],
  [
    'calls have ids',
    [userText('hi'), modelCalls({ name: 'look' }), toolResults({ name: 'look' })],
    single,
    'contents[1]: the call of look has no id',
  ],
  [
    'an id is used once',
    [...single, modelCalls('a'), toolResults('a')],
    [...single, modelCalls('b'), toolResults('b')],
    'contents[3]: the id a is used twice',
  ],
  ['an id is not too long', [userText('hi'), modelCalls(long), toolResults(long)], single, 'is longer than 64'],
  [
    'names are made of letters, digits, _ and -',
    [userText('hi'), modelCalls({ id: 'a', name: 'look up' }), toolResults({ id: 'a', name: 'look up' })],
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
  const [b, a] = [toolResults('b'), toolResults('a')]
  expect(openAiHistoryProblems([userText('hi'), modelCalls('a', 'b'), b, a])).toEqual([])
  const withMedia = { role: 'tool' as const, parts: [...a.parts, image, ...b.parts] }
  expect(openAiHistoryProblems([userText('hi'), modelCalls('a', 'b'), withMedia])).toEqual([])
})

test('the model may have the last word, and the first', () => {
  expect(openAiHistoryProblems([modelText('hello')])).toEqual([])
})

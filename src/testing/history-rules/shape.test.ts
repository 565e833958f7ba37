import { describe, expect, test } from 'vitest'
import { anthropicHistoryProblems } from './anthropic.ts'
import { malformed, modelCalls, type RuleCase, toolResults, userText } from './contents.test-kit.ts'
import { geminiHistoryProblems } from './gemini.ts'
import { openAiHistoryProblems } from './openai.ts'

const look = { name: 'look', args: {} }
const call = { functionCall: { ...look, id: 'a' } }
const response = { functionResponse: { id: 'a', name: 'look', response: {} } }
const turn = [userText('hi'), modelCalls('a'), toolResults('a')]

const cases: readonly RuleCase[] = [
  ['something', [], [userText('hi')], 'nothing in it'],
  ['a list', malformed(undefined), [userText('hi')], 'no list'],
  ['contents', malformed([null]), [userText('hi')], 'contents[0] is no content'],
  ['a role', malformed([{ role: 'system', parts: [{ text: 'hi' }] }]), [userText('hi')], 'the role "system"'],
  ['parts', malformed([{ role: 'user' }]), [userText('hi')], 'contents[0] has no parts'],
  ['at least one part', [{ role: 'user', parts: [] }], [userText('hi')], 'contents[0] has no parts'],
  ['parts that are some', malformed([{ role: 'user', parts: [7] }]), [userText('hi')], 'parts[0] is no part'],
  ['parts with something in them', [{ role: 'user', parts: [{}] }], [userText('hi')], 'parts[0] is empty'],
  [
    'parts of one kind',
    [userText('hi'), { role: 'model', parts: [{ text: 'a', ...call }] }],
    turn,
    'text and functionCall',
  ],
  ['calls of the model only', [{ role: 'user', parts: [call] }], turn, 'only the model calls, not the user'],
  ['calls with a name', malformed([{ role: 'model', parts: [{ functionCall: {} }] }]), turn, 'a call needs a name'],
  [
    'ids that are texts',
    malformed([userText('hi'), { role: 'model', parts: [{ functionCall: { ...look, id: 7 } }] }]),
    turn,
    'contents[1].parts[0]: the id of a call is a text',
  ],
  [
    'arguments that are an object',
    malformed([userText('hi'), { role: 'model', parts: [{ functionCall: { ...look, args: '{"ci' } }] }]),
    turn,
    'contents[1].parts[0]: the arguments of look are no object',
  ],
  [
    'no responses of the model',
    [userText('hi'), { role: 'model', parts: [response] }],
    turn,
    'the model answers no calls',
  ],
  [
    'responses that are an object',
    malformed([
      userText('hi'),
      modelCalls('a'),
      { role: 'tool', parts: [{ functionResponse: { name: 'look', response: 7 } }] },
    ]),
    turn,
    'the response of look is no object',
  ],
]

describe.each([
  ['Gemini', geminiHistoryProblems],
  ['OpenAI', openAiHistoryProblems],
  ['Anthropic', anthropicHistoryProblems],
])('a history for %s has', (_who, problems) => {
  test.each(cases)('%s', (_rule, broken, repaired, words) => {
    expect(problems(broken)).toEqual([expect.stringContaining(words)])
    expect(problems(repaired)).toEqual([])
  })
})

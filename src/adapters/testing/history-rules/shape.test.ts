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
  ['rejects an empty list', [], [userText('hi')], 'the contents are empty'],
  ['rejects a value that is not a list', malformed(undefined), [userText('hi')], 'not a list'],
  ['rejects null instead of a content', malformed([null]), [userText('hi')], 'contents[0] is not a content'],
  [
    'rejects an unknown role',
    malformed([{ role: 'system', parts: [{ text: 'hi' }] }]),
    [userText('hi')],
    'the role "system"',
  ],
  ['rejects a content without parts', malformed([{ role: 'user' }]), [userText('hi')], 'contents[0] has no parts'],
  ['rejects an empty list of parts', [{ role: 'user', parts: [] }], [userText('hi')], 'contents[0] has no parts'],
  [
    'rejects a part that is not an object',
    malformed([{ role: 'user', parts: [7] }]),
    [userText('hi')],
    'parts[0] is not a part',
  ],
  ['rejects an empty part', [{ role: 'user', parts: [{}] }], [userText('hi')], 'parts[0] is empty'],
  [
    'rejects a part of two kinds',
    [userText('hi'), { role: 'model', parts: [{ text: 'a', ...call }] }],
    turn,
    'has text and functionCall; a part has only one',
  ],
  [
    'rejects a call of the user',
    [{ role: 'user', parts: [call] }],
    turn,
    'only the role model can have calls, not user',
  ],
  [
    'rejects a call without a name',
    malformed([{ role: 'model', parts: [{ functionCall: {} }] }]),
    turn,
    'a call needs a name',
  ],
  [
    'rejects an id that is not a string',
    malformed([userText('hi'), { role: 'model', parts: [{ functionCall: { ...look, id: 7 } }] }]),
    turn,
    'contents[1].parts[0]: the id of a call must be a string',
  ],
  [
    'rejects arguments that are not an object',
    malformed([userText('hi'), { role: 'model', parts: [{ functionCall: { ...look, args: '{"ci' } }] }]),
    turn,
    'contents[1].parts[0]: the arguments of look are not an object',
  ],
  [
    'rejects a response of the model',
    [userText('hi'), { role: 'model', parts: [response] }],
    turn,
    'the role model cannot have responses',
  ],
  [
    'rejects a response that is not an object',
    malformed([
      userText('hi'),
      modelCalls('a'),
      { role: 'tool', parts: [{ functionResponse: { name: 'look', response: 7 } }] },
    ]),
    turn,
    'the response of look is not an object',
  ],
]

describe.each([
  ['Gemini', geminiHistoryProblems],
  ['OpenAI', openAiHistoryProblems],
  ['Anthropic', anthropicHistoryProblems],
])('the history check of %s', (_who, problems) => {
  test.each(cases)('%s', (_rule, broken, repaired, message) => {
    expect(problems(broken)).toEqual([expect.stringContaining(message)])
    expect(problems(repaired)).toEqual([])
  })
})

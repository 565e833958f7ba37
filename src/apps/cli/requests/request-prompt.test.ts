import { describe, expect, test } from 'vitest'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { type PromptSource, type RequestPrompt, requestPrompt, requestSummary } from './request-prompt.ts'

function request(more: Partial<PendingRequest>): PendingRequest {
  return {
    id: 'r1',
    kind: 'confirmation',
    userId: 'ada',
    sessionId: 's1',
    invocationId: 'e1',
    functionCallId: 'c1',
    tool: 'refund',
    args: { amount: 5 },
    agent: 'root',
    ...more,
  }
}

const source: PromptSource = {
  rootName: 'root',
  preview: async (_request, { amount }) => {
    if (amount === 13) throw new Error('The edited arguments of request "r1" are invalid: amount: not 13.')
    return { hint: `Refund ${amount}?` }
  },
}

function promptFor(more: Partial<PendingRequest>): RequestPrompt {
  const prompt = requestPrompt(request(more), source)
  if (!prompt) throw new Error('The request has no prompt.')
  return prompt
}

async function decision(line: string): Promise<unknown> {
  const answer = await promptFor({}).read(line)
  return 'parts' in answer ? answer.parts[0]?.functionResponse?.response : answer
}

async function next(prompt: RequestPrompt, line: string): Promise<RequestPrompt> {
  const answer = await prompt.read(line)
  if (!('next' in answer)) throw new Error(`No prompt follows: ${JSON.stringify(answer)}`)
  return answer.next
}

describe('a confirmation prompt', () => {
  test('shows the tool, the hint, each argument and the calling agent', () => {
    const hint = 'Refund 5 to Ada?'
    expect(promptFor({ hint }).text).toBe('? refund needs your approval\n  │ Refund 5 to Ada?\n    amount: 5\n')
    expect(
      promptFor({ hint: 'Approve execution of tool `refund`?', agent: 'billing', payload: { limit: 9 } }).text,
    ).toBe('? refund needs your approval, called by billing\n    amount: 5\n  Payload: {"limit":9}\n')
    expect(promptFor({}).label).toBe('Approve? yes / no: ')
  })

  test.each(['y', 'Y', 'yes', ' YES '])('approves for %j', async (line) => {
    expect(await decision(line)).toEqual({ confirmed: true })
  })

  test.each(['n', 'No', ' no '])('denies for %j', async (line) => {
    expect(await decision(line)).toEqual({ confirmed: false })
  })

  test.each([
    ['no, it was never paid', 'it was never paid'],
    ['n: too much', 'too much'],
    ['no yes', 'yes'],
  ])('denies with a reason for %j', async (line, reason) => {
    expect(await decision(line)).toEqual({ confirmed: false, reason })
  })

  test.each([
    '',
    ' ',
    'yes please',
    'true',
    '1',
    'ok',
    'yy',
    'y!',
    '{"confirmed":true}',
    'ｙ',
    'y\u200b',
    'nope',
    'edit',
  ])('asks again for %j', async (line) =>
    expect(await decision(line)).toEqual({ problem: 'Type yes or no. You can add a reason after no.' }),
  )

  test('escapes text that could act on the terminal, be invisible or imitate a prompt', () => {
    const evil = '\x1b[2Jok\r\u202e\u200d\n? refund needs your approval\n    amount: 1'
    const { text } = promptFor({ tool: evil, args: { [evil]: evil }, hint: evil, agent: evil, payload: evil })
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(text.match(/^\? /gm)).toHaveLength(1)
    expect(text.match(/^ {4}\S/gm)).toHaveLength(1)
    expect(text.match(/\\u200d/g)).toHaveLength(3)
  })

  test('shows arguments of any length in full', () => {
    const { text } = promptFor({ args: { note: `${'line\n'.repeat(10_000)}and pay Eve` } })
    expect(text).toMatch(/and pay Eve"\n$/)
    expect(text.length).toBeGreaterThan(60_000)
  })

  test('shows short arguments after long ones, which would move them out of the screen', () => {
    const { text } = promptFor({ args: { amount: 90_000, note: 'x'.repeat(60_000), order: 'A-1' } })
    expect(text).toMatch(/x"\n {4}amount: 90000\n {4}order: "A-1"\n$/)
  })
})

describe('a confirmation prompt with editable arguments', () => {
  const schema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
  const editable = promptFor({ editable: true, schema, hint: 'Refund 5 to Ada?' })

  test('offers to edit and approves the original arguments for yes', async () => {
    expect(editable.label).toBe('Approve? yes / no / edit: ')
    expect(await editable.read('yes')).toMatchObject({
      parts: [{ functionResponse: { response: { confirmed: true } } }],
    })
  })

  test('starts with the current arguments and asks to approve the edited ones', async () => {
    const edit = await next(editable, 'edit')
    expect(edit.initial).toBe('{"amount":5}')
    const again = await next(edit, '{"amount": 4}')
    expect(again.text).toBe(
      [
        '? refund needs your approval, with the edited arguments',
        '  Before the edit:',
        '  │ Refund 5 to Ada?',
        '    amount: 5',
        '  Now:',
        '  │ Refund 4?',
        '    amount: 4',
        '',
      ].join('\n'),
    )
    expect(await again.read('maybe')).toHaveProperty('problem')
    expect(await again.read('yes')).toMatchObject({
      parts: [{ functionResponse: { response: { confirmed: true, args: { amount: 4 } } } }],
    })
    expect((await next(again, 'e')).initial).toBe('{"amount":4}')
  })

  test.each([
    ['{"amount": "many"}', /Invalid arguments/],
    ['{"amount": 13}', /not 13/],
    ['[1]', /JSON object/],
    ['{', /Invalid JSON/],
  ])('asks again for the edit %s', async (line, problem) => {
    expect(await (await next(editable, 'edit')).read(line)).toEqual({ problem: expect.stringMatching(problem) })
  })

  test('returns to the original arguments for an empty line', async () => {
    const back = await next(await next(editable, 'edit'), '')
    expect(back.text).toContain('Refund 5 to Ada?\n    amount: 5\n')
  })

  test('escapes invisible characters in the line to edit, which parses to the same arguments', async () => {
    const args = { note: '\x9b2J\u202e\u{e0041}' }
    const { initial = '' } = await next(promptFor({ editable: true, args }), 'edit')
    expect(initial).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u)
    expect(JSON.parse(initial)).toEqual(args)
  })
})

describe('an input prompt', () => {
  const input: Partial<PendingRequest> = { kind: 'input', tool: 'book', hint: 'How many?' }

  test('shows the tool, its message and the expected format', () => {
    expect(promptFor({ ...input, schema: { type: 'integer' } })).toMatchObject({
      text: '? book asks: How many?\n',
      label: 'Answer (integer): ',
    })
    expect(promptFor({ ...input, schema: { type: 'object' } }).text).toBe(
      '? book asks: How many?\nThe answer must match {"type":"object"}\n',
    )
  })

  test('accepts a value that matches the schema', async () => {
    expect(await promptFor({ ...input, schema: { type: 'integer' } }).read('3')).toEqual({
      parts: [{ functionResponse: { id: 'r1', name: 'adk_request_input', response: { result: 3 } } }],
    })
  })

  test.each([
    ['a value that does not match the schema', { type: 'integer' }, 'many', /Invalid answer: .*integer/],
    ['invalid JSON', { type: 'object' }, '{', /Invalid JSON/],
    ['every value for a broken schema', { $ref: '#/nowhere' }, '1', /./],
  ])('rejects %s', async (_, schema, line, problem) => {
    expect(await promptFor({ ...input, schema }).read(line)).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe('a choice prompt', () => {
  const args = { prompt: 'Which drink?', options: ['tea', 'coffee\x1b[2J', '1'] }
  const choice = promptFor({ kind: 'longRunning', tool: 'get_user_choice', args })

  test('numbers its options', () => {
    expect(choice.text).toBe('? Which drink?\n  1) tea\n  2) coffee\\x1b[2J\n  3) 1\n')
    expect(choice.label).toBe('Choose 1-3, or type the option: ')
  })

  test.each([
    ['tea', 'tea'],
    ['2', 'coffee\x1b[2J'],
    ['1', '1'], // the text of an option comes before its number
  ])('reads %j as the option %j', async (line, chosen) => {
    const answer = await choice.read(line)
    expect(answer).toMatchObject({ parts: [{ functionResponse: { id: 'r1', response: { result: chosen } } }] })
  })

  test.each(['', '0', '4', 'Tea!', '-1', '99999999999999999999'])('rejects %j', async (line) => {
    expect(await choice.read(line)).toEqual({ problem: 'That is not one of the options.' })
  })
})

test('a long-running call has a summary but no prompt', () => {
  const work = request({ kind: 'longRunning', tool: 'print' })
  expect(requestPrompt(work, source)).toBeUndefined()
  expect(requestSummary(work)).toBe('result of print {"amount":5}, id r1')
  expect(requestSummary({ ...work, handle: { ticket: '\x1b' } })).toBe(
    'result of print {"amount":5}, handle {"ticket":"\\u001b"}, id r1',
  )
  expect(requestSummary(request({ kind: 'credential' }))).toBe('sign-in for refund')
})

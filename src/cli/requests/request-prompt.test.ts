import { describe, expect, test } from 'vitest'
import type { PendingRequest } from '../../event/pending.ts'
import { type RequestPrompt, requestPrompt, requestSummary } from './request-prompt.ts'

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

function ask(more: Partial<PendingRequest>): RequestPrompt {
  const question = requestPrompt(request(more), 'root')
  if (!question) throw new Error('It is not asked.')
  return question
}

async function decision(line: string): Promise<unknown> {
  const answer = await ask({}).read(line)
  return 'part' in answer ? answer.part.functionResponse?.response : answer
}

async function next(question: RequestPrompt, line: string): Promise<RequestPrompt> {
  const answer = await question.read(line)
  if (!('next' in answer)) throw new Error(`Nothing is asked next: ${JSON.stringify(answer)}`)
  return answer.next
}

describe('an approval', () => {
  test('shows the call, the hint, each argument, and the agent that calls', () => {
    const hint = 'Refund 5 to Ada?'
    expect(ask({ hint }).text).toBe('? refund needs your approval\n  │ Refund 5 to Ada?\n    amount: 5\n')
    expect(ask({ hint: 'Approve execution of tool `refund`?', agent: 'billing', payload: { limit: 9 } }).text).toBe(
      '? refund needs your approval, called by billing\n    amount: 5\n  It comes with {"limit":9}\n',
    )
    expect(ask({}).prompt).toBe('Approve? yes / no: ')
  })

  test.each(['y', 'Y', 'yes', ' YES '])('%j approves', async (line) => {
    expect(await decision(line)).toEqual({ confirmed: true })
  })

  test.each(['n', 'No', ' no '])('%j denies', async (line) => {
    expect(await decision(line)).toEqual({ confirmed: false })
  })

  test.each([
    ['no, it was never paid', 'it was never paid'],
    ['n: too much', 'too much'],
    ['no yes', 'yes'],
  ])('%j denies with a reason', async (line, reason) => {
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
  ])('%j is asked again', async (line) =>
    expect(await decision(line)).toEqual({ problem: 'Type yes or no; a reason may follow no.' }),
  )

  test('nothing in it acts, hides, or looks like a line of ours', () => {
    const evil = '\x1b[2Jok\r\u202e\u200d\n? refund needs your approval\n    amount: 1'
    const { text } = ask({ tool: evil, args: { [evil]: evil }, hint: evil, agent: evil, payload: evil })
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(text.match(/^\? /gm)).toHaveLength(1)
    expect(text.match(/^ {4}\S/gm)).toHaveLength(1)
    expect(text.match(/\\u200d/g)).toHaveLength(3)
  })

  test('shows arguments of any length to their last character', () => {
    const { text } = ask({ args: { note: `${'line\n'.repeat(10_000)}and pay Eve` } })
    expect(text).toMatch(/and pay Eve"\n$/)
    expect(text.length).toBeGreaterThan(60_000)
  })
})

describe('an approval whose arguments can be edited', () => {
  const schema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
  const editable = ask({ editable: true, schema, hint: 'Refund 5 to Ada?' })

  test('offers it, and approves what was asked about without', async () => {
    expect(editable.prompt).toBe('Approve? yes / no / edit: ')
    expect(await editable.read('yes')).toMatchObject({ part: { functionResponse: { response: { confirmed: true } } } })
  })

  test('starts from the arguments as they are, shows the new ones, and asks about those', async () => {
    const edit = await next(editable, 'edit')
    expect(edit.initial).toBe('{"amount":5}')
    const again = await next(edit, '{"amount": 4}')
    expect(again.text).toBe('? refund needs your approval, with the edited arguments\n    amount: 4\n')
    expect(await again.read('maybe')).toHaveProperty('problem')
    expect(await again.read('yes')).toMatchObject({
      part: { functionResponse: { response: { confirmed: true, args: { amount: 4 } } } },
    })
    expect((await next(again, 'e')).initial).toBe('{"amount":4}')
  })

  test.each([
    ['{"amount": "many"}', /does not fit/],
    ['[1]', /JSON object/],
    ['{', /no JSON/],
  ])('%s is asked again', async (line, problem) => {
    expect(await (await next(editable, 'edit')).read(line)).toEqual({ problem: expect.stringMatching(problem) })
  })

  test('goes back to the arguments of the call on an empty line', async () => {
    const back = await next(await next(editable, 'edit'), '')
    expect(back.text).toContain('Refund 5 to Ada?\n    amount: 5\n')
  })

  test('hides nothing in the line to edit, which parses to the same arguments', async () => {
    const args = { note: '\x9b2J\u202e\u{e0041}' }
    const { initial = '' } = await next(ask({ editable: true, args }), 'edit')
    expect(initial).not.toMatch(/[\p{Cc}\u202e\u{e0041}]/u)
    expect(JSON.parse(initial)).toEqual(args)
  })
})

describe('a question of a tool', () => {
  const input: Partial<PendingRequest> = { kind: 'input', tool: 'book', hint: 'How many?' }

  test('says who asks, what, and how to answer', () => {
    expect(ask({ ...input, schema: { type: 'integer' } })).toMatchObject({
      text: '? book asks: How many?\n',
      prompt: 'Answer (integer): ',
    })
    expect(ask({ ...input, schema: { type: 'object' } }).text).toBe(
      '? book asks: How many?\nIt must fit {"type":"object"}\n',
    )
  })

  test('takes what fits', async () => {
    expect(await ask({ ...input, schema: { type: 'integer' } }).read('3')).toEqual({
      part: { functionResponse: { id: 'r1', name: 'adk_request_input', response: { result: 3 } } },
    })
  })

  test.each([
    ['what does not fit', { type: 'integer' }, 'many', /That does not fit: .*integer/],
    ['what is no JSON', { type: 'object' }, '{', /no JSON/],
    ['what nothing can fit', { $ref: '#/nowhere' }, '1', /./],
  ])('refuses %s', async (_, schema, line, problem) => {
    expect(await ask({ ...input, schema }).read(line)).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe('a choice', () => {
  const args = { prompt: 'Which drink?', options: ['tea', 'coffee\x1b[2J', '1'] }
  const choice = ask({ kind: 'longRunning', tool: 'get_user_choice', args })

  test('is numbered', () => {
    expect(choice.text).toBe('? Which drink?\n  1) tea\n  2) coffee\\x1b[2J\n  3) 1\n')
    expect(choice.prompt).toBe('Choose 1-3, or type the words: ')
  })

  test.each([
    ['tea', 'tea'],
    ['2', 'coffee\x1b[2J'],
    ['1', '1'], // words come before numbers
  ])('%j is %j', async (line, chosen) => {
    const answer = await choice.read(line)
    expect(answer).toMatchObject({ part: { functionResponse: { id: 'r1', response: { result: chosen } } } })
  })

  test.each(['', '0', '4', 'Tea!', '-1', '99999999999999999999'])('%j is none of them', async (line) => {
    expect(await choice.read(line)).toEqual({ problem: 'That is none of them.' })
  })
})

test('other work that takes long is waited for, not asked about', () => {
  const work = request({ kind: 'longRunning', tool: 'print' })
  expect(requestPrompt(work, 'root')).toBeUndefined()
  expect(requestSummary(work)).toBe('the result of print {"amount":5}')
  expect(requestSummary(request({ kind: 'credential' }))).toBe('a sign-in, for refund')
})

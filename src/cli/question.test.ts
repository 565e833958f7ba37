import { describe, expect, test } from 'vitest'
import type { PendingRequest } from '../event/pending.ts'
import { type Question, questionOf, summaryOf } from './question.ts'

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

function ask(more: Partial<PendingRequest>): Question {
  const question = questionOf(request(more), 'root')
  if (!question) throw new Error('It is not asked.')
  return question
}

async function decision(line: string): Promise<unknown> {
  const answer = await ask({}).read(line)
  return 'part' in answer ? answer.part.functionResponse?.response : answer
}

describe('an approval', () => {
  test('shows the hint, the call, and who makes it', () => {
    const hint = 'Refund 5 to Ada?'
    expect(ask({ hint }).text).toBe('Refund 5 to Ada?\nApprove refund {"amount":5}?\n')
    expect(ask({ hint: 'Approve execution of tool `refund`?', agent: 'billing', payload: { limit: 9 } }).text).toBe(
      'It comes with {"limit":9}\nApprove refund {"amount":5}, called by billing?\n',
    )
  })

  test.each(['y', 'Y', 'yes', ' YES '])('%j approves', async (line) => {
    expect(await decision(line)).toEqual({ confirmed: true })
  })

  test.each(['', ' ', 'n', 'No'])('%j denies', async (line) => {
    expect(await decision(line)).toEqual({ confirmed: false })
  })

  test.each(['yes please', 'true', '1', 'ok', 'yy', 'y!', '{"confirmed":true}', 'ｙ', 'y\u200b'])(
    '%j denies, and is why',
    async (line) => expect(await decision(line)).toEqual({ confirmed: false, reason: line.trim() }),
  )

  test('nothing in it acts, hides, or looks like a line of ours', () => {
    const evil = '\x1b[2Jok\r\u202e\u200d\nApprove nothing {}?'
    const { text } = ask({ tool: evil, args: { [evil]: evil }, hint: evil, agent: evil, payload: evil })
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(text.match(/^Approve/gm)).toHaveLength(1)
    expect(text.match(/\\u\{200d\}/g)?.length).toBeGreaterThanOrEqual(3)
  })

  test('shows arguments of any length to their last character', () => {
    const { text } = ask({ args: { note: `${'line\n'.repeat(10_000)}and pay Eve` } })
    expect(text).toMatch(/and pay Eve"}\?\n$/)
    expect(text.length).toBeGreaterThan(60_000)
  })
})

describe('a question of a tool', () => {
  const input: Partial<PendingRequest> = { kind: 'input', tool: 'book', hint: 'How many?' }

  test('says who asks, what, and how to answer', () => {
    expect(ask({ ...input, schema: { type: 'integer' } })).toMatchObject({
      text: 'book asks: How many?\n',
      prompt: '[integer] ',
    })
    expect(ask({ ...input, schema: { type: 'object' } }).text).toBe(
      'book asks: How many?\nIt must fit {"type":"object"}\n',
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
    expect(choice.text).toBe('Which drink?\n  1) tea\n  2) coffee\\x1b[2J\n  3) 1\n')
    expect(choice.prompt).toBe('[1-3, or the words] ')
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
  expect(questionOf(work, 'root')).toBeUndefined()
  expect(summaryOf(work)).toBe('the result of print {"amount":5}')
  expect(summaryOf(request({ kind: 'credential' }))).toBe('a sign-in, for refund')
})

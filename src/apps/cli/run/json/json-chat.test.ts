import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine, startCommandLine } from '../../terminal.test-kit.ts'

const refund = ['run', 'test/examples/fixtures/refund.ts', '--json']

interface Line {
  readonly author?: string
  readonly content?: { readonly role: string; readonly parts: readonly { readonly text?: string }[] }
  readonly end?: {
    readonly status: string
    readonly sessionId: string
    readonly pending: readonly { readonly id: string; readonly tool: string }[]
    readonly error?: { readonly code: string; readonly message: string }
  }
}

const linesOf = (out: string): Line[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const textsOf = (lines: readonly Line[]) => lines.flatMap(({ content }) => content?.parts[0]?.text ?? [])
const endsOf = (lines: readonly Line[]) => lines.flatMap(({ end }) => end ?? [])

function database(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-json-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'app.db')
}

test('toolwright run --json writes one JSON line per event and ends each turn with its status', async () => {
  const { code, out, errors } = await runCommandLine(refund, { input: 'one\n\n{"message":"{two}"}\n' })
  const lines = linesOf(out)
  expect(textsOf(lines)).toEqual(['You said one.', 'You said {two}.'])
  expect(lines[0]).toMatchObject({ author: 'desk', content: { role: 'model' }, actions: { stateDelta: {} } })
  expect(endsOf(lines)).toMatchObject([{ status: 'completed', pending: [] }, { status: 'completed' }])
  expect(new Set(endsOf(lines).map(({ sessionId }) => sessionId)).size).toBe(1)
  expect([code, errors]).toEqual([0, ''])
})

test('toolwright run --json lets a program approve a call by its id', async () => {
  const { input, until, ended } = startCommandLine([...refund])
  input.write('{"message":"refund 5"}\n')
  const [paused] = endsOf(linesOf(await until('"end"')))
  expect(paused).toMatchObject({ status: 'paused', pending: [{ kind: 'confirmation', tool: 'refund' }] })
  input.end(`${JSON.stringify({ answer: { id: paused?.pending[0]?.id, confirmed: true } })}\n`)
  const { code, out } = await ended
  expect(textsOf(linesOf(out)).at(-1)).toBe('Refunded.')
  expect(code).toBe(0)
})

test('toolwright run --json exits with 3 while a request is open, and another process can deny it', async () => {
  const kept = [...refund, '--db', database(), '--session', 's1']
  const asked = await runCommandLine([...kept, 'refund 5'])
  expect(asked.code).toBe(3)
  const { input, until, ended } = startCommandLine(kept)
  const [open] = endsOf(linesOf(await until('"end"')))
  const answer = { id: open?.pending[0]?.id, confirmed: false, reason: 'never paid' }
  input.end(`${JSON.stringify({ answer: [answer] })}\n`)
  const { code, out } = await ended
  expect(textsOf(linesOf(out)).at(-1)).toContain('Not refunded')
  expect(textsOf(linesOf(out)).at(-1)).toContain('never paid')
  expect(code).toBe(0)
})

test.each([
  ['text instead of true', { confirmed: 'true' }],
  ['a number instead of true', { confirmed: 1 }],
  ['nothing', {}],
  ['true in an answer that also declines', { confirmed: true, declined: true }],
  ['true in an answer whose response says no', { confirmed: true, response: { confirmed: false } }],
])('toolwright run --json approves nothing when confirmed is %s', async (_, answer) => {
  const { input, until, ended } = startCommandLine([...refund])
  input.write('refund 5\n')
  const [paused] = endsOf(linesOf(await until('"end"')))
  input.end(`${JSON.stringify({ answer: { id: paused?.pending[0]?.id, ...answer } })}\n`)
  const { code, out } = await ended
  expect(endsOf(linesOf(out)).at(-1)).toMatchObject({ status: 'failed', error: { code: 'INVALID_REQUEST' } })
  expect(out).not.toContain('Refunded.')
  expect(code).toBe(1)
})

test.each([
  ['JSON that is cut off', '{"message":', 'not valid JSON'],
  ['an unknown member', '{"mesage":"hi"}', 'unknown member "mesage"'],
  ['both a message and an answer', '{"message":"a","answer":{}}', 'either a message or an answer'],
  [
    'an answer to no open request',
    '{"answer":{"id":"gone","confirmed":true}}',
    'No request with the id "gone" is open',
  ],
  ['an answer that is a text', '{"answer":"yes"}', 'An answer must be an object'],
])('toolwright run --json reports %s and reads the next line', async (_, line, problem) => {
  const { code, out } = await runCommandLine(refund, { input: `${line}\nhello\n` })
  const lines = linesOf(out)
  expect(endsOf(lines)).toMatchObject([
    { status: 'failed', error: { code: 'INVALID_REQUEST', message: expect.stringContaining(problem) } },
    { status: 'completed' },
  ])
  expect(textsOf(lines)).toEqual(['You said hello.'])
  expect(code).toBe(1)
})

test('toolwright run --json exits with 1 when a turn fails', async () => {
  const { code, out } = await runCommandLine(['run', 'test/examples/fixtures/failing.ts', '--json', 'hi'])
  expect(endsOf(linesOf(out))).toMatchObject([
    { status: 'failed', error: { code: 'MODEL_ERROR', message: 'no network' } },
  ])
  expect(code).toBe(1)
})

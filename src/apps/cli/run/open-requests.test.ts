import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LlmAgent, Runner, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../terminal.test-kit.ts'

const shipping = 'test/examples/fixtures/shipping.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-open-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('an open long-running call', () => {
  const waiting = /Waiting for result of ship \{\}, handle \{"ticketId":"T-7"\}, id (\S+)\n/

  test('is shown by toolwright run with its handle, its id and a command that sends the result', async () => {
    const folder = temporaryFolder()
    const { out } = await runCommandLine(['run', shipping, '--session', 's1', 'ship'], { folder })
    const [, id = ''] = waiting.exec(out) ?? []
    expect(out).toContain(
      `  Send the result: echo '{"answer":{"id":"${id}","response":<JSON>}}' | npx toolwright run ${shipping} --session s1 --json\n`,
    )
    const input = `${JSON.stringify({ answer: { id, response: { shipped: true } } })}\n`
    const sent = await runCommandLine(['run', shipping, '--session', 's1', '--json'], { folder, input })
    expect(sent.out).toContain('Result: {\\"shipped\\":true}.')
    expect(sent.code).toBe(0)
  })

  test('cannot get its result with --memory, and toolwright run says so', async () => {
    const { out } = await runCommandLine(['run', shipping, '--memory', 'ship'])
    expect(out).toMatch(waiting)
    expect(out).toContain('  Only this process has the session, so its result cannot be sent. Leave out --memory.\n')
  })

  test.each([
    ['run', ['run', shipping, 'ship']],
    ['run --json', ['run', shipping, '--json', 'ship']],
    ['tool', ['tool', shipping, 'ship']],
  ])('ends toolwright %s with exit code 3', async (_, args) => {
    expect((await runCommandLine(args)).code).toBe(3)
  })

  test.each([[[]], [['--json']]])('ends toolwright run %j with exit code 3 after another message', async (flags) => {
    const { code, out } = await runCommandLine(['run', shipping, ...flags], { input: 'ship\nhi\n' })
    expect(out).toContain('You said hi.')
    expect(code).toBe(3)
  })

  test('of toolwright tool is shown with its handle and its id, and without advice that does not work', async () => {
    for (const isTTY of [false, true]) {
      const { out, errors } = await runCommandLine(['tool', shipping, 'ship'], { isTTY })
      expect(out).toContain('"ticketId": "T-7"')
      expect(errors).toMatch(
        /^toolwright: Tool "ship" waits for the result of ship \{\}, handle \{"ticketId":"T-7"\}, id \S+\. The call is not stored, so its result cannot be sent\. /,
      )
    }
  })
})

test('the tour stops at an open approval, says what is open and exits with 3', async () => {
  const { code, out, errors } = await runCommandLine(['run', shipping], { input: '' })
  expect(out).toMatch(
    /^> Hello\nYou said Hello\.\n\n> refund\n\? refund needs your approval\nStill open: approval of refund \{\}\nContinue with: .*\n$/,
  )
  expect([code, errors]).toEqual([3, ''])
})

describe('toolwright run --session', () => {
  test.each([[[]], [['--json']]])('with %j says that a session does not exist yet, and only then', async (flags) => {
    const folder = temporaryFolder()
    const args = ['run', shipping, ...flags, '--session', 's1', 'hi']
    const first = await runCommandLine(args, { folder })
    expect(first.errors).toBe('Session "s1" does not exist yet. The first message starts it.\n')
    const second = await runCommandLine(args, { folder })
    expect([second.code, second.errors]).toEqual([0, ''])
  })
})

describe('a background call', () => {
  const archive = 'test/examples/fixtures/background.ts'

  test.each([
    ['search', 3],
    ['count', 4],
  ])('of toolwright run is awaited, and its answer is shown: %s', async (message, hits) => {
    const { code, out } = await runCommandLine(['run', archive, '--memory', message])
    expect(out).toContain(`Found {"status":"completed","tool":"${message}","result":{"hits":${hits}}}.`)
    expect(out).not.toMatch(/Waiting for|Still open|Send the result/)
    expect(code).toBe(0)
  })

  test('of toolwright run --json belongs to its turn', async () => {
    const { code, out } = await runCommandLine(['run', archive, '--memory', '--json'], { input: 'search\ncount\n' })
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.flatMap(({ end }) => end?.status ?? [])).toEqual(['completed', 'completed'])
    expect(lines.flatMap(({ content }) => content?.parts[0]?.text ?? [])).toHaveLength(2)
    expect(code).toBe(0)
  })
})

test('toolwright run refuses a session with open requests of another agent, and leaves them open', async () => {
  const folder = temporaryFolder()
  const db = join(folder, 'calls.db')
  const gated = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => 'paid' })
  const model = scriptedModel([{ calls: [{ name: 'pay' }] }])
  const runner = new Runner({
    appName: 'shipping',
    agent: new LlmAgent({ name: 'mcp', model, tools: [gated] }),
    ...sqlite(db),
  })
  await runner.complete({ userId: 'user', sessionId: 's1', message: 'Pay' })
  const refused = await runCommandLine(['run', shipping, '--app', 'shipping', '--db', db, '--session', 's1', 'hi'])
  expect(refused.code).toBe(2)
  expect(refused.errors).toContain('Session "s1" has open requests of agent "mcp", which this file does not have')
  expect(await runner.pending()).toHaveLength(1)
  await runner.close()
  const other = await runCommandLine(['run', shipping, '--app', 'shipping', '--db', db, '--session', 's2', 'hi'])
  expect(other.out).toContain('You said hi.')
})

import { EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { main } from '../main.ts'
import { runCommandLine } from '../terminal.test-kit.ts'

const refund = ['tool', 'test/examples/fixtures/refund.ts', 'refund', '--args', '{"note":"A-1"}']

/** Starts a command in a terminal with a keyboard. */
function start(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-tool-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const ledger = join(folder, 'ledger')
  vi.stubEnv('LEDGER', ledger)
  onTestFinished(() => void vi.unstubAllEnvs())
  const isTTY = { isTTY: true }
  const input = Object.assign(new PassThrough(), isTTY)
  const output = Object.assign(new PassThrough({ encoding: 'utf8' }), isTTY, { columns: 80 })
  const errors = new PassThrough({ encoding: 'utf8' })
  let shown = ''
  output.on('data', (chunk) => (shown += chunk))
  const env = { TERM: 'dumb' }
  const signals = new EventEmitter()
  const startAgain = () => expect.unreachable()
  const ended = main(args, { input, output, errors, env, folder, signals, exit: () => {}, startAgain })
  const until = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await once(output, 'data')
  }
  const refunded = (): boolean => existsSync(ledger) && readFileSync(ledger, 'utf8').includes('A-1')
  return { input, ended, until, refunded, signals, shown: () => shown, errors: () => errors.read() ?? '' }
}

test('toolwright tool asks for an approval in the terminal and prints the result', async () => {
  const { input, ended, until, shown, refunded } = start(...refund)
  await until('Approve?')
  expect(refunded()).toBe(false)
  input.write('yes\r')
  expect(await ended).toBe(0)
  expect(shown()).toContain('"refunded": true')
  expect(refunded()).toBe(true)
})

test('toolwright tool prints the denial and exits with 1', async () => {
  const { input, ended, until, shown, refunded } = start(...refund)
  await until('Approve?')
  input.write('no\r')
  expect(await ended).toBe(1)
  expect(shown()).toContain('"errorCode": "CANCELLED"')
  expect(refunded()).toBe(false)
})

test('toolwright tool leaves a call without an answer pending', async () => {
  const { input, ended, until, errors, refunded } = start(...refund)
  await until('Approve?')
  input.write('\x04')
  expect(await ended).toBe(3)
  expect(errors()).toContain('Tool "refund" waits for the approval of refund {"note":"A-1"}.')
  expect(refunded()).toBe(false)
})

test.each([
  ['no tool', ['tool', 'x.ts'], 'Pass an agent file and a tool.'],
  ['arguments without --args', ['tool', 'x.ts', 'y', '{"secret":1}'], 'Pass the arguments of the tool with --args:'],
  [
    'an argument as an option',
    ['tool', 'x.ts', 'y', '--city', 'Oslo'],
    "Unknown option '--city'. Arguments of a tool go into --args.",
  ],
  ['a tool besides --list', ['tool', 'x.ts', 'y', '--list'], '--list takes no tool.'],
  ['arguments that are not JSON', ['tool', 'x.ts', 'y', '--args', '{secret'], '--args must be a JSON object'],
  ['arguments that are a list', ['tool', 'x.ts', 'y', '--args', '[1]'], '--args must be a JSON object'],
  ['an empty user', ['tool', 'x.ts', 'y', '--user', ''], '--user is empty.'],
  ['a port without HTTP', ['mcp', 'x.ts', '--port', '1'], '--port is for HTTP.'],
  ['an invalid port', ['mcp', 'x.ts', '--http', '--port', '70000'], '--port must be a number from 0 to 65535'],
  ['two files', ['mcp', 'x.ts', 'y.ts'], 'Pass one agent file.'],
])('toolwright with %s prints one line and exits with 2', async (_, args, sentence) => {
  const { ended, errors } = start(...args)
  expect(await ended).toBe(2)
  const text = errors()
  expect(text).toContain(`toolwright: ${sentence}`)
  expect(text).not.toContain('secret')
})

test('toolwright tool --list prints the tools with their descriptions', async () => {
  const { ended, shown } = start('tool', 'test/examples/fixtures/refund.ts', '--list')
  expect(await ended).toBe(0)
  expect(shown()).toMatch(/^refund {2}Refund an order \(needs approval\)$/m)
  expect(shown()).toMatch(/^desk {4}/m)
})

test('toolwright tool with a misspelled tool names the closest one and --list', async () => {
  const { ended, errors } = start('tool', 'test/examples/fixtures/refund.ts', 'refnd')
  expect(await ended).toBe(1)
  expect(errors()).toContain('Unknown tool "refnd". Did you mean "refund"? List the tools: toolwright tool ')
})

test('toolwright tool says why the tools of a server are left out', async () => {
  const { ended, errors, shown } = start('tool', 'test/examples/fixtures/lost-server.ts', 'read_file')
  expect(await ended).toBe(1)
  expect(shown()).toContain('Unknown tool')
  expect(errors()).toContain('The tools of toolset "lost" are left out: the MCP server cannot be used:')
})

describe('toolwright tool with agents below the agent', () => {
  const team = 'test/examples/fixtures/team-tools.ts'
  const call = (...args: string[]) => runCommandLine(['tool', team, ...args])

  beforeEach(() => {
    for (const name of ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI']) vi.stubEnv(name, '')
    onTestFinished(() => void vi.unstubAllEnvs())
  })

  test('lists the tools of every agent and toolset, without a key', async () => {
    const { code, out } = await call('--list')
    expect(code).toBe(0)
    expect(out.replace(/ +.*$/gm, '').split('\n')).toEqual(
      ['agent', 'greet', 'helper', 'desk', '', 'agent', 'charge', 'look', 'list_bills', '', 'agent', 'look'].concat([
        '',
        'agent',
        'search',
        '',
      ]),
    )
    expect((await call('--list', '--agent', 'shipping')).out).toBe('look  Does look\n')
  })

  test.each(['greet', 'search'])('calls the tool %s, without a key', async (name) => {
    expect(await call(name)).toEqual({ code: 0, out: `{\n  "did": "${name}"\n}\n`, errors: '' })
  })

  test('applies the callbacks and gates of the agent that has the tool', async () => {
    expect((await call('list_bills')).out).toContain('what billing decides')
    expect(await call('charge')).toMatchObject({ code: 3, errors: expect.stringContaining('waits for the approval') })
  })

  test('asks for the agent when several have the tool', async () => {
    const { code, errors } = await call('look')
    expect([code, errors]).toEqual([
      2,
      'toolwright: Tool "look" belongs to the agents "billing" and "shipping". Pass --agent with one of them.\n',
    ])
    expect(await call('look', '--agent', 'shipping')).toMatchObject({ code: 0, errors: '' })
    expect((await call('look', '--agent', 'sales')).errors).toContain(
      'There is no agent "sales". The agents are: "desk"',
    )
  })

  test('names the closest tool of any agent', async () => {
    expect((await call('serch')).errors).toContain('Unknown tool "serch". Did you mean "search"?')
  })

  test('says what the agent itself needs only when it is asked', async () => {
    const { code, out } = await call('desk', '--args', '{"request":"Hello"}')
    expect(code).toBe(1)
    expect(out).toContain('gemini-2.5-flash needs a key. Set GEMINI_API_KEY')
  })
})

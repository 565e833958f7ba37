import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { main } from './main.ts'

async function run(...args: string[]): Promise<{ code: number; out: string; errors: string }> {
  const output = new PassThrough({ encoding: 'utf8' })
  const errors = new PassThrough({ encoding: 'utf8' })
  const terminal = {
    input: new PassThrough(),
    output,
    errors,
    env: {},
    folder: tmpdir(),
    signals: new EventEmitter(),
    exit: () => {},
  }
  const code = await main(args, terminal)
  return { code, out: output.read() ?? '', errors: errors.read() ?? '' }
}

test('toolwright --help lists the commands', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  expect(out).toMatch(/^ {2}run +Chat with the agent in a file$/m)
})

test('toolwright --help after a command shows the usage of the command', async () => {
  const { code, out } = await run('run', '--help')
  expect(code).toBe(0)
  expect(out).toMatch(/^toolwright run <file> \[message\]$/m)
})

test('toolwright --version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(await run('--version')).toEqual({ code: 0, out: `${version}\n`, errors: '' })
})

test.each([
  ['no command', [], 'No command given.'],
  ['an unknown command', ['fly\x1b[2J'], 'Unknown command "fly\\x1b[2J"'],
  ['a command named like an object method', ['constructor'], 'Unknown command "constructor"'],
  ['no file', ['run'], 'No agent file given.'],
  ['an unknown option', ['run', '--fast', 'x.ts'], "Unknown option '--fast'"],
  ['an empty session', ['run', 'x.ts', '--session', ' '], '--session is empty.'],
  ['an empty message', ['run', 'x.ts', ''], 'The message is empty.'],
])('toolwright with %s prints one line and exits with code 2', async (_, args, sentence) => {
  const { code, out, errors } = await run(...args)
  expect(code).toBe(2)
  expect(out).toBe('')
  expect(errors).toContain(`toolwright: ${sentence}`)
  expect(errors.trimEnd()).not.toContain('\n')
})

test('toolwright run with a missing agent file exits with code 1', async () => {
  expect(await run('run', 'gone.ts')).toEqual({
    code: 1,
    out: '',
    errors:
      'toolwright: Agent file "gone.ts" does not exist. Check the path; a relative path starts at the current directory.\n',
  })
})

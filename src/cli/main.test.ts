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
    leave: () => {},
  }
  const code = await main(args, terminal)
  return { code, out: output.read() ?? '', errors: errors.read() ?? '' }
}

test('--help lists the commands', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  expect(out).toMatch(/^ {2}run +talk to the agent of a file$/m)
})

test('--help after a command says what it takes', async () => {
  const { code, out } = await run('run', '--help')
  expect(code).toBe(0)
  expect(out).toMatch(/^toolwright run <file> \[message\]$/m)
})

test('--version is the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(await run('--version')).toEqual({ code: 0, out: `${version}\n`, errors: '' })
})

test.each([
  ['no command', [], 'Name a command'],
  ['an unknown command', ['fly\x1b[2J'], 'There is no command "fly\\x1b[2J"'],
  ['a method of objects', ['constructor'], 'There is no command "constructor"'],
  ['no file', ['run'], 'Name an agent file'],
  ['an unknown option', ['run', '--fast', 'x.ts'], "Unknown option '--fast'"],
  ['an empty session', ['run', 'x.ts', '--session', ' '], '--session is empty.'],
  ['an empty message', ['run', 'x.ts', ''], 'The message is empty.'],
])('%s is one sentence and exit code 2', async (_, args, sentence) => {
  const { code, out, errors } = await run(...args)
  expect(code).toBe(2)
  expect(out).toBe('')
  expect(errors).toContain(`toolwright: ${sentence}`)
  expect(errors.trimEnd()).not.toContain('\n')
})

test('a file that is not there is exit code 1', async () => {
  expect(await run('run', 'gone.ts')).toEqual({ code: 1, out: '', errors: 'toolwright: There is no file "gone.ts".\n' })
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commands } from './commands.ts'
import { runCommandLine } from './terminal.test-kit.ts'

const run = (...args: string[]) => runCommandLine(args)

test('toolwright --help lists the commands', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  expect(out).toMatch(/^ {2}run +Chat with the agent in a file$/m)
})

test('toolwright alone prints the help', async () => {
  const { out } = await run('--help')
  expect(await run()).toEqual({ code: 0, out, errors: '' })
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
  ['an unknown command', ['fly\x1b[2J'], 'Unknown command "fly\\x1b[2J"'],
  ['a command named like an object method', ['constructor'], 'Unknown command "constructor"'],
  ['no file', ['run'], 'No agent file given.'],
  ['an unknown option', ['run', '--fast', 'x.ts'], "Unknown option '--fast'. Add --help to list the options."],
  ['a misspelled command', ['rum'], 'Unknown command "rum". Did you mean "run"?'],
  ['a misspelled option', ['run', 'x.ts', '--sesion=s1'], "Unknown option '--sesion'. Did you mean --session?"],
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

describe.each([...commands, ...commands.flatMap(({ parts }) => parts)])('toolwright $name --help', (command) => {
  test('shows each option, examples that the command line accepts, and exit codes', async () => {
    const { code, out } = await run(...command.name.split(' '), '--help')
    expect(code).toBe(0)
    expect(out.startsWith(`toolwright ${command.name}`)).toBe(true)
    for (const name of Object.keys(command.options)) expect(out).toMatch(new RegExp(`^ {2}--${name} .*\\S`, 'm'))
    expect(command.examples.length).toBeGreaterThan(0)
    expect(out).toMatch(/^Exit codes:\n {2}0 +\S/m)
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  test('has options that the reference page describes', () => {
    const page = readFileSync('docs/reference/command-line.md', 'utf8')
    expect(page).toContain(command.name)
    expect(Object.keys(command.options).filter((name) => !page.includes(`--${name}`))).toEqual([])
  })

  test('uses only known options in its examples', () => {
    const known = new Map([...commands, ...command.parts].map(({ name, options }) => [name, options]))
    for (const [line] of command.examples) {
      const [, words = ''] = /toolwright ((?:mcp trust|\w+)[^|)]*)/.exec(line) ?? []
      const name = [...known.keys(), command.name]
        .filter((one) => words.startsWith(one))
        .sort((a, b) => b.length - a.length)[0]
      const options = known.get(name ?? '') ?? command.options
      for (const [, option = ''] of words.matchAll(/ --([\w-]+)/g)) expect(Object.keys(options), line).toContain(option)
    }
  })
})

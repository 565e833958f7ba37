import { expect, test } from 'vitest'
import { parseCommandLine } from '../command/parse-command-line.ts'
import { continueHint, type RunArguments, readRunArguments, runOptions } from './run-arguments.ts'

function parseRunArguments(args: readonly string[]): RunArguments {
  return readRunArguments(parseCommandLine(runOptions, args))
}

test('options of toolwright run can come before and after the file', () => {
  expect(parseRunArguments(['--db', 'a.db', 'agent.ts', 'What is', '--user', 'ada', 'this?', '--session=s1'])).toEqual({
    file: 'agent.ts',
    message: 'What is this?',
    userId: 'ada',
    sessionId: 's1',
    db: 'a.db',
    json: false,
    opensBrowser: true,
    verbose: false,
    trace: false,
  })
})

test('--no-browser turns off the browser', () => {
  expect(parseRunArguments(['agent.ts', '--no-browser'])).toMatchObject({ opensBrowser: false })
})

test('a stored session ends with a command that continues it', () => {
  const given = parseRunArguments(['my agent.ts', '--db', "it's.db", '--user', 'ada'])
  expect(continueHint(given, 's1', true)).toBe(
    `Continue with: npx toolwright run 'my agent.ts' --db 'it'\\''s.db' --user ada --session s1`,
  )
  expect(continueHint(parseRunArguments(['agent.ts']), 's1', true)).toBe(
    'Continue with: npx toolwright run agent.ts --session s1',
  )
})

test('an in-memory session ends with advice to leave out --memory', () => {
  expect(continueHint(parseRunArguments(['agent.ts', '--memory']), 's1', false)).toContain('leave out --memory')
})

import { expect, test } from 'vitest'
import { howToGoOn, parseRun } from './run-arguments.ts'

test('options may stand anywhere', () => {
  expect(parseRun(['--db', 'a.db', 'agent.ts', 'What is', '--user', 'ada', 'this?', '--session=s1'])).toEqual({
    file: 'agent.ts',
    message: 'What is this?',
    userId: 'ada',
    sessionId: 's1',
    db: 'a.db',
    verbose: false,
  })
})

test('a session that is kept is gone on with by a command one can paste', () => {
  const given = parseRun(['my agent.ts', '--db', "it's.db", '--user', 'ada'])
  expect(howToGoOn(given, 's1', true)).toBe(
    `Continue with: npx toolwright run 'my agent.ts' --db 'it'\\''s.db' --user ada --session s1`,
  )
  expect(howToGoOn(parseRun(['agent.ts']), 's1', true)).toBe('Continue with: npx toolwright run agent.ts --session s1')
})

test('one in memory is gone, and it is said how to keep the next', () => {
  expect(howToGoOn(parseRun(['agent.ts']), 's1', false)).toContain('--db <file>')
})

import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { terminalLogger, warningLogger } from './terminal-logger.ts'

test('writes each warning once, escaped, and no errors', () => {
  const errors = new PassThrough({ encoding: 'utf8' })
  const logger = warningLogger({ errors })
  for (const line of ['left out: \x1b[2J', 'left out: \x1b[2J', 'other']) logger.warn(line)
  logger.error('a failure that the events show')
  expect(errors.read()).toBe('left out: \\x1b[2J\nother\n')
})

test('writes the stack of an error only if it is wanted', () => {
  const errors = new PassThrough({ encoding: 'utf8' })
  const error = new Error('no disk')
  terminalLogger({ errors }, { showsStacks: false }).error('Not stored.', error)
  expect(errors.read()).toBe('Not stored.\n')
  terminalLogger({ errors }).error('Not stored.', error)
  expect(errors.read()).toContain('terminal-logger.test.ts')
})

import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { warningLogger } from './terminal-logger.ts'

test('writes each warning once, escaped, and no errors', () => {
  const errors = new PassThrough({ encoding: 'utf8' })
  const logger = warningLogger({ errors })
  for (const line of ['left out: \x1b[2J', 'left out: \x1b[2J', 'other']) logger.warn(line)
  logger.error('a failure that the events show')
  expect(errors.read()).toBe('left out: \\x1b[2J\nother\n')
})

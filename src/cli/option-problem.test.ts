import { parseArgs } from 'node:util'
import { expect, test } from 'vitest'
import { optionProblem } from './option-problem.ts'

test('names the unknown option and --help', () => {
  try {
    parseArgs({ args: ['--htpp'], options: {}, allowPositionals: true })
    expect.unreachable()
  } catch (error) {
    expect(optionProblem(error)).toBe("Unknown option '--htpp'. Add --help to list the options.")
  }
})

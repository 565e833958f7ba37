// Declarations that count for a whole program are checked in a program of their own.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('an app that declares RunContext must pass it, and its tools read it with its types', {
  timeout: 120_000,
}, async () => {
  const compiling = promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/types'])
  const { stdout } = await compiling.catch((failed: { stdout: string }) => failed)
  expect(stdout).toBe('')
})

// A declaration of RunContext applies to all files that are compiled together, so this test compiles test/types alone.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('an app that declares RunContext must pass a value to its runs, and its tools read the declared type', {
  timeout: 120_000,
}, async () => {
  const compiling = promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/types'])
  const { stdout } = await compiling.catch((failed: { stdout: string }) => failed)
  expect(stdout).toBe('')
})

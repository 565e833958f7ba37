import { expect, test } from 'vitest'
import { runCommandLine } from '../terminal.test-kit.ts'

const shipping = 'test/examples/fixtures/shipping.ts'
const MS = String.raw`\d+(\.\d)? ms`

test('toolwright run --trace shows a turn as a tree after its events', async () => {
  const { out, code } = await runCommandLine(['run', shipping, '--memory', '--trace', 'hi'])
  expect(code).toBe(0)
  expect(out).toMatch(new RegExp(`^\\S+  ${MS}\n└─ \\S+  ${MS}$`, 'm'))
})

test('toolwright run --trace shows a call that waits', async () => {
  const { out } = await runCommandLine(['run', shipping, '--memory', '--trace', 'ship'])
  expect(out).toMatch(new RegExp(`─ ship  ${MS}  paused$`, 'm'))
})

test('toolwright run --trace --json keeps the tree away from the events', async () => {
  const { out, errors } = await runCommandLine(['run', shipping, '--memory', '--trace', '--json', 'hi'])
  for (const line of out.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
  expect(errors).toMatch(new RegExp(`─ \\S+  ${MS}$`, 'm'))
})

test('toolwright run shows no tree without --trace', async () => {
  expect((await runCommandLine(['run', shipping, '--memory', 'hi'])).out).not.toContain('└─')
})

// Runs the two commands of examples/approvals as separate processes that share one file.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Ended, node, withoutKeys } from './child.ts'

function setUp(): (command: string, args?: readonly string[], ofNode?: readonly string[]) => Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-approvals-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = { ...withoutKeys(), APPROVALS_DB: join(folder, 'app.db') }
  return (command, args = [], ofNode = []) => node([...ofNode, `examples/approvals/${command}.ts`, ...args], { env })
}

const paid = (...ended: Ended[]): string[] => ended.flatMap(({ out }) => out.match(/^\[bank\].*$/gm) ?? [])

test('examples/approvals pays a refund once when another process approves it', async () => {
  const start = setUp()
  const asked = await start('request')
  expect(asked).toMatchObject({
    code: 0,
    out: 'Waiting for approval: Refund 500 EUR for order A-7?\nNow: npx node examples/approvals/approve.ts\n',
  })

  const approved = await start('approve')
  expect(approved.code).toBe(0)
  expect(approved.out).toMatch(
    /^Refund 500 EUR for order A-7\? approve\n\[bank\] 500 EUR for A-7, key \S+\nRefunded \(order id: A-7, amount: 500\)\.\n$/,
  )

  expect(await start('approve')).toMatchObject({ code: 0, out: 'Nothing is pending.\n' })
})

test('examples/approvals does not pay a denied refund, and prints the reason', async () => {
  const start = setUp()
  await start('request')
  const denied = await start('approve', ['deny', 'It was never paid.'])
  expect(denied.out).toMatch(/^Refund 500 .* deny\n.*rejected by the user: It was never paid\.\n$/)
  expect(paid(denied, await start('approve'))).toEqual([])
})

test('examples/approvals pays nothing for a decision other than "approve"', async () => {
  const start = setUp()
  await start('request')
  expect(paid(await start('approve', ['aprove']), await start('approve'))).toEqual([])
})

test('examples/approvals pays a small refund without an approval', async () => {
  const start = setUp()
  const { out } = await start('request', ['Refund 20 EUR for order A-7.'])
  expect(out).toMatch(/^\[bank\] 20 EUR for A-7, key \S+\nRefunded \(order id: A-7, amount: 20\)\.\n$/)
  expect((await start('approve')).out).toBe('Nothing is pending.\n')
})

test('examples/approvals keeps the pending refund after kill -9', async () => {
  const start = setUp()
  // kills the process when it prints that it waits
  const die = `
    const { write } = process.stdout
    process.stdout.write = (text, ...more) =>
      text.includes('Waiting') ? process.kill(process.pid, 'SIGKILL') : write.call(process.stdout, text, ...more)`
  const asked = await start('request', [], ['--import', `data:text/javascript,${encodeURIComponent(die)}`])
  expect(asked).toMatchObject({ code: null, out: '' })
  expect(paid(await start('approve'))).toHaveLength(1)
})

test('examples/approvals pays once for two approvals at the same time', async () => {
  const start = setUp()
  await start('request')
  const both = await Promise.all([start('approve'), start('approve')])
  expect(paid(...both, await start('approve'))).toHaveLength(1)
})

test('examples/approvals decides each refund of one reply separately', async () => {
  const start = setUp()
  await start('request', ['Refund orders A-7 and A-8, 500 EUR each.'])
  const first = await start('approve')
  const { out } = { out: first.out + (await start('approve')).out }
  expect(first.out.match(/\[bank\]/g)).toHaveLength(1)
  expect(out.match(/\[bank\] 500 EUR for A-\d/g)).toEqual(['[bank] 500 EUR for A-7', '[bank] 500 EUR for A-8'])
  expect(new Set(out.match(/key \S+/g)).size).toBe(2)
})

test.each(globSync('examples/approvals/*.ts'))(
  '%s has at most 40 lines and starts with a comment about its purpose',
  (file) => {
    const text = readFileSync(file, 'utf8')
    expect(text).toMatch(/^\/\/ .{20,}/)
    expect(text.split('\n').length).toBeLessThanOrEqual(40)
  },
)

import { expect, test } from 'vitest'
import { run } from './code.test-kit.ts'
import { quickjs } from './quickjs.ts'

const executor = quickjs({ timeoutMs: 10_000, memoryBytes: 16_000_000, maxOutputBytes: 4000 })
const hasty = quickjs({ timeoutMs: 300 })

test.concurrent.each([
  ['a loop', 'for (;;);'],
  ['a loop of promises', 'const f = () => void Promise.resolve().then(f); f()'],
  ['a loop that catches everything', 'for (;;) { try { for (;;); } catch {} }'],
  ['a loop in finally', 'const f = () => { try { for (;;); } finally { f() } }; f()'],
  ['a loop in an async function', '(async () => { for (;;) await null })()'],
  ['a loop in a getter that is printed', 'console.log({ get x() { for (;;); } })'],
  ['a loop in toJSON of arguments', 'await tools.any({ toJSON() { for (;;); } })'],
  ['a regular expression without end', '/(a+)+b/.test("a".repeat(40))'],
  ['a timer without end', 'const f = () => void setTimeout(f, 0); f()'],
  ['a sleep', 'await new Promise((resolve) => setTimeout(resolve, 1e9))'],
  ['work inside the engine that nothing interrupts', '"a".repeat(1e5).indexOf("a".repeat(5e4) + "b")'],
])('%s is stopped at the deadline', async (_, code) => {
  const { outcome, output } = await run(hasty, `console.log("before"); ${code}`, {
    tools: ['any'],
    callTool: async () => ({}),
  })
  expect(outcome).toBe('DEADLINE_EXCEEDED')
  expect(output).toBe('before\n[stopped after 300 ms]')
})

test.concurrent.each([
  ['arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e6))', 'out of memory'],
  ['strings', 'let s = "x"; for (;;) s += s', 'string too long'],
  ['objects', 'let o = {}; for (;;) o = { o, a: new Array(1000) }', 'out of memory'],
  ['small objects', 'const a = []; for (;;) a.push({ a: 1 })', 'out of memory'],
  ['one large piece', 'new ArrayBuffer(17e6)', 'out of memory'],
  ['a deep call', 'const f = () => f() + 1; f()', 'stack overflow'],
  ['deep JSON', 'JSON.parse("[".repeat(1e5))', 'stack overflow'],
  ['deep source', 'eval("(".repeat(1e5))', 'stack overflow'],
  ['deep patterns', 'new RegExp("(".repeat(1e5))', 'too many captures'],
  ['timers', 'for (;;) setTimeout(() => {}, 1e6)', 'At most 1000 tools and timers'],
  ['calls', 'await Promise.all(Array.from({ length: 1001 }, () => tools.never({})))', 'At most 1000 tools and timers'],
])('too much of %s fails', async (_, code, error) => {
  const { outcome, output } = await run(executor, code, { tools: ['never'], callTool: () => new Promise(() => {}) })
  expect([outcome, output]).toEqual(['FAILED', expect.stringMatching(error)])
})

test.each([
  ['buffers', 'new Uint8Array(1e5)', 1e5],
  ['strings', '"x".repeat(1e5) + i', 1e5],
  ['arrays', 'new Array(1e4).fill(i)', 8e4],
])('all %s together are no more than its memory', async (_, one, bytes) => {
  const code = `let all = []; let count = 0
try { for (let i = 0; ; i++) { all.push(${one}); count = i } } catch {}
all = undefined; count`
  const { output } = await run(executor, code)
  expect(Number(output) * bytes).toBeGreaterThan(4_000_000)
  expect(Number(output) * bytes).toBeLessThan(24_000_000)
})

test('within its memory it works', async () => {
  expect((await run(executor, 'new Uint8Array(4e6).length')).output).toBe('4000000')
})

test('output is cut, and the code goes on', async () => {
  const { outcome, output } = await run(executor, 'console.log("x".repeat(10_000)); console.error("last")')
  expect(outcome).toBe('OK')
  expect(output).toBe(`${'x'.repeat(3000)}\n[cut: 7001 more bytes were printed]\n--- stderr ---\nlast`)
})

test('output without end ends the run', async () => {
  const { outcome, output } = await run(executor, 'for (;;) console.log("x".repeat(5000))')
  expect(outcome).toBe('FAILED')
  expect(output).toMatch(/\[stopped: it printed without end\]$/)
  expect(output.length).toBeLessThan(4200)
})

test('many runs at a time have nothing to do with each other', async () => {
  const results = await Promise.all([
    run(hasty, 'for (;;);'),
    run(executor, 'const a = []; for (;;) a.push(new Uint8Array(1e6))'),
    run(executor, '"fine"'),
  ])
  expect(results.map(({ outcome }) => outcome)).toEqual(['DEADLINE_EXCEEDED', 'FAILED', 'OK'])
})

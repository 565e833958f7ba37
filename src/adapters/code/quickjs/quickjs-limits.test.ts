import { expect, test } from 'vitest'
import { run } from '../executor.test-kit.ts'
import { quickjs } from './quickjs.ts'

const executor = quickjs({ timeoutMs: 10_000, memoryBytes: 16_000_000, maxOutputBytes: 4000 })
const hasty = quickjs({ timeoutMs: 300 })
const patient = quickjs({ timeoutMs: 50_000, maxOutputBytes: 4000 })

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
])('quickjs() stops %s at the deadline', async (_, code) => {
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
  ['single buffers', 'new ArrayBuffer(17e6)', 'out of memory'],
  ['call stacks', 'const f = () => f() + 1; f()', 'stack overflow'],
  ['nested JSON', 'JSON.parse("[".repeat(1e5))', 'stack overflow'],
  ['nested source code', 'eval("(".repeat(1e5))', 'stack overflow'],
  ['nested regular expressions', 'new RegExp("(".repeat(1e5))', 'too many captures'],
  ['timers', 'for (;;) setTimeout(() => {}, 1e6)', 'At most 1000 tool calls and timers'],
  [
    'pending tool calls',
    'await Promise.all(Array.from({ length: 1001 }, () => tools.never({})))',
    'At most 1000 tool calls and timers',
  ],
])('quickjs() fails code that creates too many or too large %s', async (_, code, error) => {
  const { outcome, output } = await run(executor, code, { tools: ['never'], callTool: () => new Promise(() => {}) })
  expect([outcome, output]).toEqual(['FAILED', expect.stringMatching(error)])
})

test.each([
  ['buffers', 'new Uint8Array(1e5)', 1e5],
  ['strings', '"x".repeat(1e5) + i', 1e5],
  ['arrays', 'new Array(1e4).fill(i)', 8e4],
])('quickjs() limits the memory of all %s together', async (_, one, bytes) => {
  const code = `let all = []; let count = 0
try { for (let i = 0; ; i++) { all.push(${one}); count = i } } catch {}
all = undefined; count`
  const { output } = await run(executor, code)
  expect(Number(output) * bytes).toBeGreaterThan(4_000_000)
  expect(Number(output) * bytes).toBeLessThan(24_000_000)
})

test('quickjs() runs code that stays within its memory', async () => {
  expect((await run(executor, 'new Uint8Array(4e6).length')).output).toBe('4000000')
})

test('quickjs() cuts long output and lets the code continue', async () => {
  const { outcome, output } = await run(executor, 'console.log("x".repeat(10_000)); console.error("last")')
  expect(outcome).toBe('OK')
  expect(output).toBe(`${'x'.repeat(3000)}\n[cut: 7001 more bytes were printed]\n--- stderr ---\nlast`)
})

test('quickjs() stops code that prints endlessly', async () => {
  const { outcome, output } = await run(executor, 'for (;;) console.log("x".repeat(5000))')
  expect(outcome).toBe('FAILED')
  expect(output).toMatch(/\[stopped: the code printed more than 400000 characters\]$/)
  expect(output.length).toBeLessThan(4200)
})

test('quickjs() isolates concurrent runs from each other', async () => {
  const results = await Promise.all([
    run(hasty, 'for (;;);'),
    run(executor, 'const a = []; for (;;) a.push(new Uint8Array(1e6))'),
    run(executor, '"fine"'),
  ])
  expect(results.map(({ outcome }) => outcome)).toEqual(['DEADLINE_EXCEEDED', 'FAILED', 'OK'])
})

/** Code that sends endless messages to the host and catches every error. */
const floods: readonly (readonly [name: string, code: string, reason: string])[] = [
  [
    'endless tool calls',
    'for (;;) { try { await tools.any({}) } catch {} }',
    'the code made more than 2000 tool calls',
  ],
  [
    'a tool call of 1 MB',
    'for (;;) { try { tools.any({ text: "x".repeat(1e6) }) } catch {} }',
    'a tool call is larger than',
  ],
  [
    'tool calls of 32 MB in total',
    'for (;;) { try { await tools.any({ text: "x".repeat(9e5) }) } catch {} }',
    'the tool calls of the code exceed 32000000 bytes in total',
  ],
  [
    'endless timer errors',
    `const { catch: original } = Promise.prototype
let say
Promise.prototype.catch = function (handler) { say = handler; return original.call(this, handler) }
setTimeout(() => {}, 0)
for (;;) { try { say('x'.repeat(20_000)) } catch {} }`,
    'the code printed more than 400000 characters',
  ],
  [
    'endless caught prints',
    'for (;;) { try { console.log("x".repeat(5000)) } catch {} }',
    'the code printed more than 400000 characters',
  ],
]

test.each(floods)('quickjs() stops the run at %s', { timeout: 60_000 }, async (_, code, reason) => {
  let calls = 0
  const callTool = async () => ({ calls: ++calls })
  const { outcome, output } = await run(patient, code, { tools: ['any'], callTool })
  expect([outcome, output]).toEqual(['FAILED', expect.stringMatching(new RegExp(`\\[stopped: (${reason})`))])
  expect(calls).toBeLessThanOrEqual(2000)
})

test('quickjs() keeps tool calls pending when their ids are passed to clearTimeout', async () => {
  let calls = 0
  const callTool = async () => ({ calls: ++calls })
  const code = 'let id = 0; for (;;) { try { tools.any({}) } catch {} clearTimeout(++id) }'
  await run(hasty, code, { tools: ['any'], callTool })
  expect(calls).toBeLessThanOrEqual(1000)
})

test('quickjs() allows 1200 tool calls, 900 of them at one time', async () => {
  const code = `let sum = 0
for (let i = 0; i < 300; i++) sum += (await tools.any({ i, text: 'x'.repeat(1000) })).one
const all = await Promise.all(Array.from({ length: 900 }, () => tools.any({})))
sum + all.length`
  expect((await run(executor, code, { tools: ['any'], callTool: async () => ({ one: 1 }) })).output).toBe('1200')
})

test('quickjs() clears timers but not tool calls with clearTimeout', async () => {
  const code = `const cleared = setTimeout(() => console.log('never'), 0); clearTimeout(cleared)
const answer = tools.any({}); for (let id = 0; id < 10; id++) clearTimeout(id)
await answer`
  const { outcome, output } = await run(executor, code, { tools: ['any'], callTool: async () => ({ got: 1 }) })
  expect({ outcome, output }).toEqual({ outcome: 'OK', output: '{ got: 1 }' })
})

test('a stateful quickjs() session can rewrite a file but not collect files endlessly', async () => {
  const session = quickjs({ stateful: true, maxFiles: 2, maxFileBytes: 1000 })
  for (let i = 0; i < 12; i++) {
    const code = `writeFile('same', '${i}'); readFile('same')`
    expect(await run(session, code)).toMatchObject({ outcome: 'OK', output: `${i}` })
  }
  const write = (i: number) => run(session, `writeFile('file${i}', 'x')`)
  for (let i = 0; i < 19; i++) expect((await write(i)).outcome).toBe('OK')
  expect((await write(19)).output).toContain('A session can hold at most 20 files and 10000 bytes.')
  await session.shutdown?.()
})

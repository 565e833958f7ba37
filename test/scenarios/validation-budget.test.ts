// Validation always ends, whatever a model, a tool or a client sends. The timeouts here only guard against a hang.
import { respond, tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { requestFor, sendMessage, startProcess, storedEvents, stores, where } from './approvals-kit.ts'
import { plainTool, runScenario } from './kit.ts'
import { clockedStores, LEASE_MS, resumeSession } from './lease-kit.ts'

const timeout = { timeout: 30_000 }
const TOO_MUCH = 'expected a value that takes less work to check against its schema'
const hostile = `${'a'.repeat(40)}!`

let everything: object = { type: 'object' }
for (let i = 0; i < 10; i++) everything = { allOf: [everything, structuredClone(everything)] }
const heavy = { type: 'object', properties: { rows: { type: 'array', items: everything } }, required: ['rows'] }
const rows = Array.from({ length: 20_000 }, () => ({}))
const nested = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } }, required: ['text'] }
const address = { type: 'object', properties: { text: { type: 'string', format: 'url' } }, required: ['text'] }

const take = (parameters: object) => tool({ name: 'take', description: 'd', parameters, run: () => ({ taken: true }) })

describe('arguments that take much work to validate', timeout, () => {
  test.each([
    ['a pattern that backtracks', nested, { text: hostile }, 'text: expected text that matches /^(a+)+$/'],
    ['a format', address, { text: `http://${'a'.repeat(60)}` }, 'text: expected valid url'],
    ['many schemas for many values', heavy, { rows }, `arguments: ${TOO_MUCH}`],
  ])('are answered with INVALID_ARGS: %s', async (_, parameters, args, why) => {
    const { response, text } = await runScenario({ tools: [take(parameters)], calls: [{ name: 'take', args }] })
    expect(response).toEqual({ error: `Invalid arguments for take: ${why}`, errorCode: 'INVALID_ARGS' })
    expect(text).toBe('done')
  })

  test.each([
    ['a pattern', nested, { text: 'aaa' }],
    ['a format', address, { text: 'http://example.com/a' }],
    ['many schemas', heavy, { rows: rows.slice(0, 50) }],
  ])('are accepted when they are valid: %s', async (_, parameters, args) => {
    const { response } = await runScenario({ tools: [take(parameters)], calls: [{ name: 'take', args }] })
    expect(response).toEqual({ taken: true })
  })

  test.each(clockedStores)('are validated again when a crashed run is resumed: %s', async (_, newStore) => {
    const clock = { time: 0 }
    const store = newStore(clock)
    const asleep = plainTool('sleep', () => new Promise(() => {}), { effect: 'none' })
    const tools = [asleep, take(nested)]
    const calls = [{ name: 'sleep' }, { name: 'take', args: { text: hostile } }]
    const dead = startProcess(store, { tools, steps: [{ calls }] }).runner
    void dead.run({ ...where, message: 'go', runConfig: { detach: true } })
    await expect.poll(async () => (await storedEvents(store)).length).toBeGreaterThan(1)
    clock.time += LEASE_MS
    const awake = plainTool('sleep', () => ({ slept: true }), { effect: 'none' })
    expect(await resumeSession(startProcess(store, { tools: [awake, take(nested)], steps: ['done'] }).runner)).toBe(
      'done',
    )
    expect(JSON.stringify(await storedEvents(store))).toContain('INVALID_ARGS')
  })
})

test('the runner answers INVALID_RESULT for a result that takes too much work to validate', timeout, async () => {
  const give = (count: number) =>
    tool({ name: 'give', description: 'd', outputSchema: heavy, run: () => ({ rows: rows.slice(0, count) }) })
  const { response } = await runScenario({ tools: [give(20_000)], calls: [{ name: 'give' }] })
  expect(response).toEqual({
    error: `give returned a result that does not fit its schema: result: ${TOO_MUCH}`,
    errorCode: 'INVALID_RESULT',
  })
  const honest = await runScenario({ tools: [give(2)], calls: [{ name: 'give' }] })
  expect(honest.response).toEqual({ rows: [{}, {}] })
})

test("the runner corrects an agent's output that takes too much work to validate", timeout, async () => {
  const result = await runScenario({
    agent: { outputSchema: nested },
    steps: [JSON.stringify({ text: hostile }), JSON.stringify({ text: 'aa' })],
  })
  expect(result.text).toBe('{"text":"aa"}')
  expect(result.error).toBeUndefined()
})

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  const ask = (schema: unknown) =>
    tool({
      name: 'ask',
      description: 'd',
      run: (_args, context) => {
        const given = context.requestInput({ key: 'k', message: '?', schema })
        return given === undefined ? 'asking' : { given }
      },
    })
  const askStep = { calls: [{ id: 'c1', name: 'ask', args: {} }] }

  test('rejects an answer that takes too much work to validate and keeps the request pending', timeout, async () => {
    const store = newStore()
    const tools = [ask(heavy)]
    const { pending } = await sendMessage(startProcess(store, { tools, steps: [askStep] }).runner)
    const { runner } = startProcess(store, { tools, steps: ['thanks'] })
    await expect(sendMessage(runner, [respond(requestFor(pending), { rows })])).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('takes less work'),
    })
    expect(await runner.pending(where)).toHaveLength(1)
    expect((await sendMessage(runner, [respond(requestFor(pending), { rows: [{}] })])).text).toBe('thanks')
  })

  test('accepts an answer to a pattern that only its own library can match', async () => {
    const store = newStore()
    const tools = [ask(z.object({ code: z.string().regex(/^(a|b)\1$/) }))]
    const { pending } = await sendMessage(startProcess(store, { tools, steps: [askStep] }).runner)
    const { runner } = startProcess(store, { tools, steps: ['thanks'] })
    expect((await sendMessage(runner, [respond(requestFor(pending), { code: 'aa' })])).text).toBe('thanks')
  })
})

describe('parse() of a tool', () => {
  const own = (parse: (args: unknown) => unknown) =>
    plainTool('take', (args) => ({ got: args ?? null }), { parse: parse as never })
  const call = { calls: [{ name: 'take', args: { pin: 'hunter2' } }] }

  test.each<[string, (args: unknown) => unknown]>([
    [
      'throws a RangeError with the value',
      (args) => {
        throw new RangeError(JSON.stringify(args))
      },
    ],
    [
      'throws an error with the value',
      (args) => {
        throw new Error(JSON.stringify(args))
      },
    ],
    [
      'rejects with the value',
      async (args) => {
        throw new RangeError(JSON.stringify(args))
      },
    ],
    [
      'overflows the stack',
      function overflow(): unknown {
        return overflow()
      },
    ],
    ['returns undefined', () => undefined],
    ['returns neither value nor issues', () => ({})],
    ['resolves to neither value nor issues', async () => ({})],
  ])('answers INVALID_ARGS without the value when it %s', async (_, parse) => {
    const { response } = await runScenario({ ...call, tools: [own(parse)] })
    expect(response).toEqual({
      error: 'Invalid arguments for take: they could not be validated',
      errorCode: 'INVALID_ARGS',
    })
  })

  test('may return any thenable', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise that is not the native one
    const later = (value: unknown) => ({ then: (done: (verdict: unknown) => void) => done({ value }) })
    expect((await runScenario({ ...call, tools: [own(later)] })).response).toEqual({ got: { pin: 'hunter2' } })
    expect((await runScenario({ ...call, tools: [own((value) => ({ value }))] })).response).toEqual({
      got: { pin: 'hunter2' },
    })
  })

  test('truncates a text of very many issues', async () => {
    const issues = Array.from({ length: 100_000 }, (_, i) => ({ path: `p${i}`, expected: 'x'.repeat(1_000) }))
    const { response } = await runScenario({ ...call, tools: [own(() => ({ issues }))] })
    expect(String(response.error).length).toBeLessThan(5_000)
  })
})

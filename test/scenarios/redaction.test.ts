// redact(): hides values in every kind of result, under every policy, and never turns a success into a failure.
import {
  cached,
  concurrency,
  InMemoryArtifactService,
  rateLimit,
  redact,
  retry,
  type Tool,
  timeout,
  tool,
  withParts,
} from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startProcess, storedEvents } from './approvals-kit.ts'
import { plainTool, responsesOf, runScenario } from './kit.ts'
import { clockedStores, hangInBody, LEASE_MS, resumeSession } from './lease-kit.ts'

const SECRET = 's3cret'
const X = '[redacted]'
const twice = { steps: [{ calls: [{ name: 'look' }] }, { calls: [{ name: 'look' }] }, 'done'] }

const policies: [string, (tool: Tool) => Tool][] = [
  ['timeout', (tool) => timeout(tool, 10_000)],
  ['cached', (tool) => cached(tool)],
  ['retry', (tool) => retry(tool, { attempts: 2, delayMs: 0 })],
  ['rateLimit', (tool) => rateLimit(tool, { max: 10, perMs: 1_000 })],
  ['concurrency', (tool) => concurrency(tool, 1)],
  ['redact', (tool) => redact(tool, ['other'])],
]

function cyclic(): object {
  const made: { [key: string]: unknown } = { ssn: SECRET, n: 1 }
  made.self = made
  return made
}

const bodies: [string, Tool['run'], unknown][] = [
  ['an object that contains itself', cyclic, { ssn: X, n: 1, self: '[circular]' }],
  [
    'a Map with a bigint',
    () =>
      new Map<string, unknown>([
        ['ssn', SECRET],
        ['n', 1n],
      ]),
    { ssn: X, n: '1' },
  ],
  ['a toJSON', async () => ({ toJSON: () => ({ ssn: SECRET, n: 1 }) }), { ssn: X, n: 1 }],
  [
    'a generator that returns',
    function* () {
      yield { step: 1 }
      return { ssn: SECRET, n: 1 }
    },
    { ssn: X, n: 1 },
  ],
  [
    'a promise of a generator',
    async () =>
      (function* () {
        yield { step: 1 }
        return { ssn: SECRET, n: 1 }
      })(),
    { ssn: X, n: 1 },
  ],
]

describe.each(bodies)('redact() with a body that returns %s', (_, run, shown) => {
  const look = plainTool('look', run)
  const nested = policies.flatMap(([name, wrap]): [string, Tool][] => [
    [`${name}(redact())`, wrap(redact(look, ['ssn']))],
    [`redact(${name}())`, redact(wrap(look), ['ssn'])],
  ])
  test.each(nested)('hides the value from the model, the log and callbacks: %s', async (_, made) => {
    const seen: unknown[] = []
    const result = await runScenario({
      ...twice,
      tools: [made],
      agent: { afterTool: ({ result }) => void seen.push(result) },
    })
    expect(result.responses.map(({ response }) => response)).toEqual([shown, shown])
    expect(result.text).toBe('done')
    expect(JSON.stringify(seen)).not.toContain(SECRET)
    const recorded = result.events.filter(({ partial }) => !partial)
    expect(JSON.stringify([recorded, result.model.requests.map(({ contents }) => contents)])).not.toContain(SECRET)
  })
})

test('redact() hides values in yields that form the result', async () => {
  const look = plainTool('look', function* () {
    yield { ssn: SECRET, n: 1 }
    yield { ssn: SECRET, n: 2 }
  })
  const { response } = await runScenario({ tools: [redact(look, ['results[].ssn'])], calls: [{ name: 'look' }] })
  expect(response).toEqual({
    results: [
      { ssn: X, n: 1 },
      { ssn: X, n: 2 },
    ],
  })
})

test('redact() hides values in a result and keeps its media', async () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
  const look = plainTool('look', () => withParts({ ssn: SECRET, n: 1n }, [picture]))
  const result = await runScenario({ tools: [redact(look, ['ssn'])], calls: [{ name: 'look' }] })
  expect(result.response).toEqual({ ssn: X, n: '1' })
  expect(result.events.flatMap(({ content }) => content?.parts ?? [])).toContainEqual(picture)
})

test('redact() hides values in a truncated result and in its artifact', async () => {
  const artifactService = new InMemoryArtifactService()
  const look = plainTool('look', () => ({ ssn: SECRET, text: 'x'.repeat(300_000), last: { ssn: SECRET } }))
  const tools = [redact(look, ['ssn', 'last.ssn'])]
  const result = await runScenario({ tools, calls: [{ name: 'look', id: 'c1' }], runner: { artifactService } })
  expect(result.response).toMatchObject({ truncated: true, artifact: { filename: 'look-c1.json', version: 0 } })
  const key = { appName: 'app', userId: 'ada', sessionId: result.sessionId, filename: 'look-c1.json' }
  expect((await artifactService.loadArtifact(key))?.text).toContain(X)
  expect(JSON.stringify([result.events, await artifactService.loadArtifact(key)])).not.toContain(SECRET)
})

describe('redact() with an outputSchema', () => {
  const customer = (given: unknown) =>
    tool({
      name: 'look',
      description: 'd',
      effect: 'idempotent',
      outputSchema: z.object({ ssn: z.number(), name: z.string().default('Ann') }),
      run: () => given as never,
    })

  test.each<[string, (tool: Tool) => Tool]>([
    ['redact', (made) => redact(made, ['ssn'])],
    ['cached', (made) => cached(redact(made, ['ssn']))],
    ['redact of cached', (made) => redact(cached(made), ['ssn'])],
    ['redact twice', (made) => redact(redact(made, ['ssn']), ['other'])],
  ])('validates the result before hiding values: %s', async (_, wrap) => {
    const result = await runScenario({ ...twice, tools: [wrap(customer({ ssn: 123 }))] })
    expect(result.responses.map(({ response }) => response)).toEqual([
      { ssn: X, name: 'Ann' },
      { ssn: X, name: 'Ann' },
    ])
  })

  test('rejects an invalid result once', async () => {
    let runs = 0
    const made = customer(undefined)
    const counted = {
      ...made,
      run: () => {
        runs++
        return { ssn: 'no number' }
      },
    }
    const tools = [retry(redact(counted as Tool, ['ssn']), { attempts: 3, delayMs: 0 })]
    const { response } = await runScenario({ tools, calls: [{ name: 'look' }] })
    expect(response).toEqual({
      error: 'look returned a result that does not fit its schema: ssn: expected number',
      errorCode: 'INVALID_RESULT',
    })
    expect(runs).toBe(1)
  })
})

test('redact() hides arguments from callbacks, also after a schema transformed them', async () => {
  const seen: unknown[] = []
  const login = tool({
    name: 'login',
    description: 'd',
    parameters: z.object({ password: z.string(), n: z.number().transform((n) => BigInt(n)) }),
    run: ({ password }) => ({ length: password.length }),
  })
  const result = await runScenario({
    tools: [redact(login, { args: ['password'] })],
    calls: [{ name: 'login', args: { password: SECRET, n: 5 } }],
    agent: { afterTool: ({ args }) => void seen.push(args) },
  })
  expect(result.response).toEqual({ length: 6 })
  expect(seen).toEqual([{ password: X, n: '5' }])
})

test.each(clockedStores)('redact() hides values in the result of reconcile(): %s', async (_, newStore) => {
  const clock = { time: 0 }
  const store = newStore(clock)
  const work = (run: Tool['run']): Tool => ({
    ...plainTool('look', run),
    effect: 'reconcilable',
    reconcile: () => ({ status: 'done', result: { ssn: SECRET, n: 1n } }),
  })
  await hangInBody(store, work, [{ calls: [{ name: 'look' }] }])
  clock.time += LEASE_MS
  const tools = [
    redact(
      work(() => 'never'),
      ['ssn'],
    ),
  ]
  expect(await resumeSession(startProcess(store, { tools, steps: ['done'] }).runner)).toBe('done')
  const events = await storedEvents(store)
  expect(responsesOf(events).map(({ response }) => response)).toEqual([{ ssn: X, n: '1' }])
  expect(JSON.stringify(events)).not.toContain(SECRET)
})

test('cached() does not cache a result whose JSON differs from the returned value', async () => {
  const look = plainTool('look', () => Object.defineProperty({ ssn: SECRET }, 'toJSON', { value: () => ({ n: 1 }) }))
  const result = await runScenario({ ...twice, tools: [cached(look)] })
  expect(result.responses.map(({ response }) => response)).toEqual([{ n: 1 }, { n: 1 }])
  const unreadable = plainTool('look', () => ({
    get n() {
      throw new Error('x')
    },
  }))
  const { response } = await runScenario({ tools: [cached(unreadable)], calls: [{ name: 'look' }] })
  expect(response.errorCode).toBeUndefined()
})

import { InMemoryArtifactService, type Tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { plainTool, progressOf, recordingLogger, runScenario, type Scenario, type ScenarioResult } from './kit.ts'

const CAP = 256_000

const give = (make: () => unknown, story: Partial<Scenario> = {}): Promise<ScenarioResult> =>
  runScenario({ tools: [plainTool('give', make)], calls: [{ name: 'give', id: 'c1' }], ...story })

async function storedSize({ runner, sessionId }: ScenarioResult): Promise<number> {
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  return Buffer.byteLength(JSON.stringify(session?.events))
}

test('the runner truncates a result over 256 kB to its head and tail', async () => {
  const outcome = await give(() => ({ text: `start${'x'.repeat(300_000)}finish` }))
  const { truncated, bytes, head, tail, artifact } = outcome.response
  expect(truncated).toBe(true)
  expect(bytes).toBeGreaterThan(300_000)
  expect(head).toMatch(/^\{"text":"startxxx/)
  expect(tail).toMatch(/xxxfinish"\}$/)
  expect(artifact).toBeUndefined()
  expect(await storedSize(outcome)).toBeLessThan(CAP)
  expect(outcome.text).toBe('done')
})

test('the runner does not truncate a result just under the limit', async () => {
  const { response } = await give(() => ({ text: 'x'.repeat(255_000) }))
  expect(response.truncated).toBeUndefined()
})

test('the runner saves the complete result as an artifact that can be loaded', async () => {
  const artifactService = new InMemoryArtifactService()
  const whole = { rows: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` })) }
  const outcome = await give(() => whole, { runner: { artifactService } })
  expect(outcome.response.artifact).toEqual({ filename: 'give-c1.json', version: 0 })
  expect(outcome.events[1]?.actions.artifactDelta).toEqual({ 'give-c1.json': 0 })
  const key = { appName: 'app', userId: 'ada', sessionId: outcome.sessionId, filename: 'give-c1.json' }
  const saved = await artifactService.loadArtifact(key)
  expect(JSON.parse(saved?.text ?? '')).toEqual(whole)
})

test('the runner saves the artifact of a tool named user:export in the session, not for the user', async () => {
  const artifactService = new InMemoryArtifactService()
  const tools = [plainTool('user:export', () => 'x'.repeat(300_000))]
  const outcome = await runScenario({ tools, calls: [{ name: 'user:export', id: 'c1' }], runner: { artifactService } })
  expect(outcome.response.artifact).toEqual({ filename: 'user-export-c1.json', version: 0 })
  const elsewhere = { appName: 'app', userId: 'ada', sessionId: 'another' }
  expect(await artifactService.listArtifactKeys(elsewhere)).toEqual([])
})

test('the runner truncates a result without an artifact reference when the artifact service fails', async () => {
  const artifactService = new InMemoryArtifactService()
  artifactService.saveArtifact = () => Promise.reject(new Error('disk full'))
  const logger = recordingLogger()
  const outcome = await give(() => 'x'.repeat(300_000), { runner: { artifactService, logger } })
  expect(outcome.response).toMatchObject({ truncated: true })
  expect(outcome.response.artifact).toBeUndefined()
  expect(logger.lines.join()).toContain('disk full')
})

test.each([1, 4, 1_000])('the runner truncates results at maxResultBytes: %d bytes', async (maxResultBytes) => {
  const outcome = await give(() => ({ text: 'y'.repeat(5_000) }), { runner: { maxResultBytes } })
  expect(outcome.response).toMatchObject({ truncated: true })
  expect(JSON.stringify(outcome.response).length).toBeLessThan(maxResultBytes + 200)
})

test('the runner truncates a result without splitting a character', async () => {
  const { response } = await give(() => '😀'.repeat(100_000), { runner: { maxResultBytes: 1_001 } })
  for (const text of [response.head, response.tail]) expect(String(text).isWellFormed()).toBe(true)
})

describe('the size of the stored event', () => {
  test.each([
    ['escaped text', '\u0001'],
    ['wide text', '字'],
  ])('stays below the limit for %s', async (_, character) => {
    const outcome = await give(() => ({ text: character.repeat(300_000) }))
    expect(outcome.response).toMatchObject({ truncated: true })
    expect(await storedSize(outcome)).toBeLessThan(CAP + 10_000)
  })

  test('stays below the limit for an error message of 5 MB', async () => {
    const outcome = await give(() => {
      throw new Error('e'.repeat(5_000_000))
    })
    expect(outcome.response).toMatchObject({ errorCode: 'EXECUTION_FAILED' })
    expect(await storedSize(outcome)).toBeLessThan(CAP)
  })

  test('stays below the limit for progress of 1 MB', async () => {
    const outcome = await give(function* () {
      yield 'p'.repeat(1_000_000)
      return 'ok'
    })
    expect(progressOf(outcome.events)[0]?.response).toEqual({ progress: { truncated: true, bytes: 1_000_002 } })
  })
})

describe('hostile results', () => {
  const deep = (levels: number): unknown => {
    let value: unknown = 'bottom'
    for (let i = 0; i < levels; i++) value = { value }
    return value
  }
  const cyclic = (): unknown => {
    const value: { list: unknown[]; self?: unknown } = { list: [] }
    value.self = value
    value.list.push(value)
    return value
  }
  const wide = (): unknown => {
    const value: { [key: string]: number } = {}
    for (let i = 0; i < 1_000_000; i++) value[`k${i}`] = i
    return value
  }
  const doubling = (): unknown => {
    let value: unknown = {}
    for (let i = 0; i < 60; i++) value = [value, value]
    return value
  }
  const hostile = (): unknown =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('get')
        },
        has: () => false,
        ownKeys: () => {
          throw new Error('ownKeys')
        },
        getPrototypeOf: () => {
          throw new Error('getPrototypeOf')
        },
      },
    )
  const revoked = (): unknown => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  const cases: [what: string, make: () => unknown][] = [
    ['a cyclic object', cyclic],
    [
      'a getter that throws',
      () => ({
        get a() {
          throw new Error('no')
        },
      }),
    ],
    [
      'a toJSON that throws',
      () => ({
        toJSON: () => {
          throw new Error('no')
        },
      }),
    ],
    [
      'an endless toJSON',
      () => {
        const toJSON = (): unknown => ({ toJSON })
        return { toJSON }
      },
    ],
    ['a proxy that throws', hostile],
    ['a proxy that was revoked', revoked],
    ['ten thousand levels', () => deep(10_000)],
    ['a million keys', wide],
    ['a sparse array of length four billion', () => new Array(4_000_000_000)],
    ['one object repeated 2^60 times', doubling],
    ['a text of 200 MB', () => 'x'.repeat(200_000_000)],
    ['100 MB of bytes', () => Buffer.alloc(100_000_000)],
    ['__proto__ and constructor keys', () => JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":1}}')],
  ]
  test.each(cases)('complete the run and keep the log small: %s', { timeout: 30_000 }, async (_, make) => {
    const outcome = await give(make)
    expect(outcome.text).toBe('done')
    expect(outcome.responses).toHaveLength(1)
    expect(await storedSize(outcome)).toBeLessThan(CAP)
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test.each([150, 190, 199, 250])('of %d nested levels are readable from the store', async (levels) => {
    const outcome = await give(() => deep(levels))
    expect(await storedSize(outcome)).toBeLessThan(CAP)
  })

  test('have a text in place of an unreadable value and keep other values', async () => {
    const { response } = await give(() => ({ good: 1, bad: hostile() }))
    expect(response).toEqual({ good: 1, bad: '[unreadable]' })
    expect((await give(cyclic)).response).toEqual({ list: ['[circular]'], self: '[circular]' })
  })
})

test('the runner does not truncate the responses of sibling calls next to a truncated result', async () => {
  const tools: Tool[] = [plainTool('big', () => 'x'.repeat(300_000)), plainTool('small', () => 'ok')]
  const { responses } = await runScenario({ tools, calls: [{ name: 'big' }, { name: 'small' }] })
  expect(responses[0]?.response.truncated).toBe(true)
  expect(responses[1]?.response).toEqual({ result: 'ok' })
})

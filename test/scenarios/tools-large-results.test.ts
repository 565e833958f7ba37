import { InMemoryArtifactService, type Tool } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { bare, notebook, play, progressOf, type Story, type Told } from './kit.ts'

const CAP = 256_000

const give = (make: () => unknown, story: Partial<Story> = {}): Promise<Told> =>
  play({ tools: [bare('give', make)], calls: [{ name: 'give', id: 'c1' }], ...story })

async function storedSize({ runner, sessionId }: Told): Promise<number> {
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  return Buffer.byteLength(JSON.stringify(session?.events))
}

test('a result over 256 kB is cut to its head and tail, and says so', async () => {
  const told = await give(() => ({ text: `start${'x'.repeat(300_000)}finish` }))
  const { truncated, bytes, head, tail, artifact } = told.response
  expect(truncated).toBe(true)
  expect(bytes).toBeGreaterThan(300_000)
  expect(head).toMatch(/^\{"text":"startxxx/)
  expect(tail).toMatch(/xxxfinish"\}$/)
  expect(artifact).toBeUndefined()
  expect(await storedSize(told)).toBeLessThan(CAP)
  expect(told.text).toBe('done')
})

test('a result just under the cap is left alone', async () => {
  const { response } = await give(() => ({ text: 'x'.repeat(255_000) }))
  expect(response.truncated).toBeUndefined()
})

test('the whole of a cut result is an artifact that can be loaded back', async () => {
  const artifactService = new InMemoryArtifactService()
  const whole = { rows: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` })) }
  const told = await give(() => whole, { runner: { artifactService } })
  expect(told.response.artifact).toEqual({ filename: 'give-c1.json', version: 0 })
  expect(told.events[1]?.actions.artifactDelta).toEqual({ 'give-c1.json': 0 })
  const key = { appName: 'app', userId: 'ada', sessionId: told.sessionId, filename: 'give-c1.json' }
  const saved = await artifactService.loadArtifact(key)
  expect(JSON.parse(saved?.text ?? '')).toEqual(whole)
})

test('the whole of a cut result belongs to the session, whatever the tool is called', async () => {
  const artifactService = new InMemoryArtifactService()
  const tools = [bare('user:export', () => 'x'.repeat(300_000))]
  const told = await play({ tools, calls: [{ name: 'user:export', id: 'c1' }], runner: { artifactService } })
  expect(told.response.artifact).toEqual({ filename: 'user-export-c1.json', version: 0 })
  const elsewhere = { appName: 'app', userId: 'ada', sessionId: 'another' }
  expect(await artifactService.listArtifactKeys(elsewhere)).toEqual([])
})

test('an artifact service that fails costs the reference, not the result', async () => {
  const artifactService = new InMemoryArtifactService()
  artifactService.saveArtifact = () => Promise.reject(new Error('disk full'))
  const logger = notebook()
  const told = await give(() => 'x'.repeat(300_000), { runner: { artifactService, logger } })
  expect(told.response).toMatchObject({ truncated: true })
  expect(told.response.artifact).toBeUndefined()
  expect(logger.lines.join()).toContain('disk full')
})

test.each([1, 4, 1_000])('a cap of %d bytes is the developer’s to set', async (maxResultBytes) => {
  const told = await give(() => ({ text: 'y'.repeat(5_000) }), { runner: { maxResultBytes } })
  expect(told.response).toMatchObject({ truncated: true })
  expect(JSON.stringify(told.response).length).toBeLessThan(maxResultBytes + 200)
})

test('a cut does not leave half a character behind', async () => {
  const { response } = await give(() => '😀'.repeat(100_000), { runner: { maxResultBytes: 1_001 } })
  for (const text of [response.head, response.tail]) expect(String(text).isWellFormed()).toBe(true)
})

describe('what is stored stays below the cap', () => {
  test.each([
    ['text that is escaped', '\u0001'],
    ['text of many bytes', '字'],
  ])('%s', async (_, character) => {
    const told = await give(() => ({ text: character.repeat(300_000) }))
    expect(told.response).toMatchObject({ truncated: true })
    expect(await storedSize(told)).toBeLessThan(CAP + 10_000)
  })

  test('an error nobody should read to its end', async () => {
    const told = await give(() => {
      throw new Error('e'.repeat(5_000_000))
    })
    expect(told.response).toMatchObject({ errorCode: 'EXECUTION_FAILED' })
    expect(await storedSize(told)).toBeLessThan(CAP)
  })

  test('progress', async () => {
    const told = await give(function* () {
      yield 'p'.repeat(1_000_000)
      return 'ok'
    })
    expect(progressOf(told.events)[0]?.response).toEqual({ progress: { truncated: true, bytes: 1_000_002 } })
  })
})

describe('nothing a body gives can break the run or swell the log', () => {
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
    ['a cycle', cyclic],
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
      'a toJSON without end',
      () => {
        const toJSON = (): unknown => ({ toJSON })
        return { toJSON }
      },
    ],
    ['a proxy that throws', hostile],
    ['a proxy that was revoked', revoked],
    ['ten thousand levels', () => deep(10_000)],
    ['a million keys', wide],
    ['a list of four billion holes', () => new Array(4_000_000_000)],
    ['the same thing 2^60 times', doubling],
    ['a text of 200 MB', () => 'x'.repeat(200_000_000)],
    ['100 MB of bytes', () => Buffer.alloc(100_000_000)],
    ['a prototype in disguise', () => JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":1}}')],
  ]
  test.each(cases)('%s', { timeout: 30_000 }, async (_, make) => {
    const told = await give(make)
    expect(told.text).toBe('done')
    expect(told.responses).toHaveLength(1)
    expect(await storedSize(told)).toBeLessThan(CAP)
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test.each([150, 190, 199, 250])('%d levels stay readable from the store', async (levels) => {
    const told = await give(() => deep(levels))
    expect(await storedSize(told)).toBeLessThan(CAP)
  })

  test('what cannot be read is named in its place, the rest stays', async () => {
    const { response } = await give(() => ({ good: 1, bad: hostile() }))
    expect(response).toEqual({ good: 1, bad: '[unreadable]' })
    expect((await give(cyclic)).response).toEqual({ list: ['[circular]'], self: '[circular]' })
  })
})

test('a cut result leaves its siblings whole', async () => {
  const tools: Tool[] = [bare('big', () => 'x'.repeat(300_000)), bare('small', () => 'ok')]
  const { responses } = await play({ tools, calls: [{ name: 'big' }, { name: 'small' }] })
  expect(responses[0]?.response.truncated).toBe(true)
  expect(responses[1]?.response).toEqual({ result: 'ok' })
})

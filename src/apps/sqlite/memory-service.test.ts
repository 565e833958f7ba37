import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { memoryServiceSuite } from '../../adapters/testing/suites/memory-service-suite.ts'
import { HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import type { Event } from '../../core/event/event.ts'
import { InMemoryMemoryService } from '../../services/memory/in-memory.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { Session } from '../../services/session/service.ts'
import { QUERIES, TEXTS } from '../../services/sql/memory-corpus.test-kit.ts'
import { sqlite } from './sqlite.ts'
import { temporaryFile } from './temporary-file.test-kit.ts'

memoryServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.memoryService, close: () => services.close() }
})

const ada = { appName: 'shop', userId: 'ada' }

function sessionOf(id: string, texts: readonly string[], userId = 'ada'): Session {
  const events = texts.map((text, n): Event => {
    const content = { role: 'user', parts: [{ text }] } as const
    return { id: `${id}-${n}`, author: 'user', timestamp: n, invocationId: 'i', content, actions: {} }
  })
  return { appName: 'shop', userId, id, state: {}, events, lastUpdateTime: 0 }
}

async function found(memory: MemoryService, query: string, userId = 'ada'): Promise<(string | undefined)[]> {
  const { memories } = await memory.searchMemory({ ...ada, userId, query })
  return memories.map(({ content }) => content.parts[0]?.text)
}

describe('memory in a file', () => {
  test('finds the same as the search in memory, in the same order, in ten languages and for any syntax', async () => {
    using services = sqlite(':memory:')
    const inMemory = new InMemoryMemoryService()
    for (const memory of [services.memoryService, inMemory]) {
      for (let at = 0; at < TEXTS.length; at += 25)
        await memory.addSessionToMemory(sessionOf(`s${at}`, TEXTS.slice(at, at + 25)))
      // other users have other frequencies of words
      await memory.addSessionToMemory(sessionOf('s1', Array(50).fill('refund of a late order'), 'bob'))
    }
    for (const query of QUERIES)
      expect([query, await found(services.memoryService, query)]).toEqual([query, await found(inMemory, query)])
  })

  test('ranks the best of more than 200 texts with a word', async () => {
    using services = sqlite(':memory:')
    const texts = Array.from({ length: 300 }, (_, n) => `the order ${'and so on '.repeat(n % 7)}`)
    texts[123] = 'the lost order'
    await services.memoryService.addSessionToMemory(sessionOf('s1', texts))
    const best = await found(services.memoryService, 'the lost order')
    expect([best.length, best[0]]).toEqual([200, 'the lost order'])
    expect((await found(services.memoryService, 'order')).slice(0, 3)).toEqual([
      'the order ',
      'the order ',
      'the order ',
    ])
  })

  test('answers a query of a thousand words', async () => {
    using services = sqlite(':memory:')
    await services.memoryService.addSessionToMemory(sessionOf('s1', ['one early word']))
    const query = `early ${Array.from({ length: 1000 }, (_, n) => `noise${n}`).join(' ')}`
    expect(await found(services.memoryService, query)).toEqual(['one early word'])
  })

  test('is there in another process, and keeps the messages that a session still has', async () => {
    const file = temporaryFile()
    {
      using services = sqlite(file)
      await services.memoryService.addSessionToMemory(sessionOf('s1', ['first', 'second', 'second']))
    }
    using services = sqlite(file)
    const { memoryService } = services
    const list = async () => (await memoryService.listMemories?.({ ...ada, limit: 10 }))?.items
    const before = await list()
    await memoryService.addSessionToMemory(sessionOf('s1', ['first', 'second', 'second', 'third']))
    expect((await list())?.slice(0, 3)).toEqual(before)
    expect((await list())?.map(({ memory }) => memory.content.parts[0]?.text)).toEqual([
      'first',
      'second',
      'second',
      'third',
    ])
    await memoryService.addSessionToMemory(sessionOf('s1', ['second']))
    expect(await found(memoryService, 'first second third')).toEqual(['second'])
  })

  test('of two versions that are added at once has one, whole', async () => {
    const file = temporaryFile()
    using one = sqlite(file)
    using other = sqlite(file)
    const versions = [
      ['apple', 'both'],
      ['pear', 'both'],
    ] as const
    await Promise.all(
      [one, other].map(({ memoryService }, at) =>
        memoryService.addSessionToMemory(sessionOf('s1', versions[at] ?? [])),
      ),
    )
    const texts = await found(one.memoryService, 'apple pear both')
    expect(versions.map((version) => [...version].sort())).toContainEqual(texts.sort())
  })

  test('leaves no word of a deleted session or user in the bytes of the file', async () => {
    const file = temporaryFile()
    const services = sqlite(file)
    const { memoryService } = services
    await memoryService.addSessionToMemory(sessionOf('s1', ['canaryalpha speaks', 'kept words']))
    await memoryService.addSessionToMemory(sessionOf('s2', ['canarybeta speaks']))
    await memoryService.addSessionToMemory(sessionOf('s1', ['kept words']))
    await memoryService.deleteSession({ ...HOME, sessionId: 's2' })
    await memoryService.addSessionToMemory(sessionOf('s3', ['canarygamma'], 'canarybob'))
    await memoryService.deleteUser({ ...ada, userId: 'canarybob' })
    services.close()
    const connection = new DatabaseSync(file)
    connection.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
    const bytes = readFileSync(file, 'latin1')
    expect(bytes).toContain('kept')
    expect(bytes).not.toContain('canary')
  })

  test('reports a damaged message, and finds the others', async () => {
    const file = temporaryFile()
    const reports: string[] = []
    const logger = { warn: (message: string) => void reports.push(message), error: () => {} }
    using services = sqlite(file, { logger })
    await services.memoryService.addSessionToMemory(sessionOf('s1', ['one apple', 'two apples and an apple']))
    const connection = new DatabaseSync(file)
    connection.exec("UPDATE toolwright_memories SET body = '{' WHERE id = 1")
    connection.close()
    expect(await found(services.memoryService, 'apple')).toEqual(['two apples and an apple'])
    expect(reports).toEqual([expect.stringMatching(/^Memory 1 of session "s1" is damaged/)])
    expect((await services.memoryService.listMemories?.({ ...ada, limit: 10 }))?.items).toHaveLength(1)
  })
})

import { Client } from 'pg'
import { expect, test } from 'vitest'
import { emptyStore } from '../../../test/postgres/empty-store.ts'
import { memoryServiceSuite } from '../../adapters/testing/suites/memory-service-suite.ts'
import { eventOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { InMemoryMemoryService } from '../../services/memory/in-memory.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { Session } from '../../services/session/service.ts'
import { QUERIES, TEXTS } from '../../services/sql/memory-corpus.test-kit.ts'
import { newSchema, serverUrl } from './database.test-kit.ts'
import { postgres } from './postgres.ts'

memoryServiceSuite(test, (options) => {
  const services = emptyStore(options)
  return { service: services.memoryService, close: () => services.close() }
})

function sessionOf(id: string, texts: readonly string[], userId = 'ada'): Session {
  const events = texts.map((text, n) =>
    eventOf(`${id}-${n}`, { timestamp: n, content: { role: 'user', parts: [{ text }] } }),
  )
  return { appName: 'shop', userId, id, state: {}, events, lastUpdateTime: 0 }
}

async function found(memory: MemoryService, query: string): Promise<(string | undefined)[]> {
  const { memories } = await memory.searchMemory({ appName: 'shop', userId: 'ada', query })
  return memories.map(({ content }) => content.parts[0]?.text)
}

test('memory on Postgres finds the same as the search in memory, in the same order, in ten languages and for any syntax', async () => {
  await using services = emptyStore()
  const inMemory = new InMemoryMemoryService()
  for (const memory of [services.memoryService, inMemory]) {
    for (let at = 0; at < TEXTS.length; at += 25)
      await memory.addSessionToMemory(sessionOf(`s${at}`, TEXTS.slice(at, at + 25)))
    await memory.addSessionToMemory(sessionOf('s1', Array(50).fill('refund of a late order'), 'bob'))
  }
  for (const query of QUERIES)
    expect([query, await found(services.memoryService, query)]).toEqual([query, await found(inMemory, query)])
})

test('memory on Postgres stores texts without words, and very long ones', async () => {
  await using services = emptyStore()
  const long = Array.from({ length: 20_000 }, (_, n) => `слово${n}`).join(' ')
  await services.memoryService.addSessionToMemory(sessionOf('s1', ['...', '', long, 'NUL \0 and \ud800']))
  expect((await found(services.memoryService, 'слово7'))[0]?.length).toBe(100_000)
  expect(await found(services.memoryService, 'NUL')).toEqual(['NUL \0 and \ud800'])
})

test('forgetting a user waits for a process that is adding the first messages of the user, and leaves none', async () => {
  const schema = newSchema()
  await using services = postgres(serverUrl(), { schema })
  await services.ready()
  const [other, watcher] = [new Client(serverUrl()), new Client(serverUrl())]
  await Promise.all([other.connect(), watcher.connect()])
  try {
    const users = `"${schema}".toolwright_memory_users`
    const countWaiting = async (): Promise<number> => {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%toolwright_memory_users%'`
      return (await watcher.query(waiting)).rowCount ?? 0
    }
    await other.query('BEGIN')
    await other.query(`INSERT INTO ${users} (app, "user") VALUES ('shop', 'ada')`)
    await other.query(`INSERT INTO "${schema}".toolwright_memories (owner, session, body, length)
      SELECT id, 's1', '{"content":{"role":"user","parts":[{"text":"a pear"}]}}', 1 FROM ${users}`)
    const forgetting = services.memoryService.deleteUser({ appName: 'shop', userId: 'ada' })
    await expect.poll(countWaiting).toBeGreaterThan(0)
    await other.query('COMMIT')
    await forgetting
    expect((await other.query(`SELECT 1 FROM "${schema}".toolwright_memories`)).rowCount).toBe(0)
    expect((await other.query(`SELECT 1 FROM ${users}`)).rowCount).toBe(0)
  } finally {
    await Promise.all([other.end(), watcher.end()])
  }
})

test('forgetting a session waits for a process that is adding messages of it, and leaves none', async () => {
  const schema = newSchema()
  await using services = postgres(serverUrl(), { schema })
  await services.memoryService.addSessionToMemory(sessionOf('s1', ['an apple']))
  const [other, watcher] = [new Client(serverUrl()), new Client(serverUrl())]
  await Promise.all([other.connect(), watcher.connect()])
  try {
    const memories = `"${schema}".toolwright_memories`
    const countWaiting = async (): Promise<number> => {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%toolwright_memory_users%'`
      return (await watcher.query(waiting)).rowCount ?? 0
    }
    await other.query('BEGIN')
    await other.query(`UPDATE "${schema}".toolwright_memory_users SET app = app`)
    await other.query(`INSERT INTO ${memories} (owner, session, body, length)
      SELECT owner, session, '{"content":{"role":"user","parts":[{"text":"a pear"}]}}', 1 FROM ${memories}`)
    const forgetting = services.memoryService.deleteSession({ appName: 'shop', userId: 'ada', sessionId: 's1' })
    await expect.poll(countWaiting).toBeGreaterThan(0)
    await other.query('COMMIT')
    await forgetting
    expect((await other.query(`SELECT 1 FROM ${memories}`)).rowCount).toBe(0)
  } finally {
    await Promise.all([other.end(), watcher.end()])
  }
})

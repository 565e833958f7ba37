import { describe, expect, test } from 'vitest'
import { memoryServiceSuite } from '../../adapters/testing/suites/memory-service-suite.ts'
import type { Event } from '../../core/event/event.ts'
import type { Session } from '../session/service.ts'
import { InMemoryMemoryService } from './in-memory.ts'

memoryServiceSuite(test, () => new InMemoryMemoryService())

const ada = { appName: 'shop', userId: 'ada' }

/** A session with one event for each text. */
function sessionOf(id: string, ...texts: string[]): Session {
  const events = texts.map((text, n): Event => {
    const content = { role: 'user', parts: [{ text }] } as const
    return { id: `${id}-${n}`, author: 'user', timestamp: n, invocationId: 'i', content, actions: {} }
  })
  return { ...ada, id, state: {}, events, lastUpdateTime: 0 }
}

/** Text with this many characters. */
const longText = (length: number, word = 'word'): string => `${word} `.repeat(length / (word.length + 1))

async function found(memory: InMemoryMemoryService, query: string): Promise<number> {
  return (await memory.searchMemory({ ...ada, query })).memories.length
}

describe('a user with much text', () => {
  test('lets other work go on while a long session is added, replaced and deleted', async () => {
    const memory = new InMemoryMemoryService()
    const text = Array.from({ length: 90_000 / 6 }, (_, n) => `w${String(n).padStart(4, '0')}`).join(' ')
    const session = sessionOf('s1', ...Array(10).fill(text))
    const works = [
      () => memory.addSessionToMemory(session),
      () => memory.addSessionToMemory(session),
      () => memory.deleteSession({ ...ada, sessionId: 's1' }),
    ]
    for (const work of works) {
      let turns = 0
      const timer = setInterval(() => turns++, 0)
      await work()
      clearInterval(timer)
      expect(turns).toBeGreaterThan(5)
    }
  })

  test('finds the earlier version of a session until the new one is whole', async () => {
    const memory = new InMemoryMemoryService()
    await memory.addSessionToMemory(sessionOf('s1', 'an apple'))
    const adding = memory.addSessionToMemory(sessionOf('s1', 'a pear', longText(90_000), longText(90_000)))
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect([await found(memory, 'apple'), await found(memory, 'pear')]).toEqual([1, 0])
    await adding
    expect([await found(memory, 'apple'), await found(memory, 'pear')]).toEqual([0, 1])
  })

  test('has the last of several versions that are added at the same time, and nothing after a deletion', async () => {
    const memory = new InMemoryMemoryService()
    const versions = ['apple', 'pear', 'plum'].map((word) => sessionOf('s1', word, longText(50_000, word)))
    await Promise.all(versions.map((version) => memory.addSessionToMemory(version)))
    expect([await found(memory, 'apple'), await found(memory, 'pear'), await found(memory, 'plum')]).toEqual([0, 0, 2])
    const adding = memory.addSessionToMemory(sessionOf('s2', longText(50_000, 'fig')))
    await memory.deleteUser(ada)
    await adding
    expect([await found(memory, 'plum'), await found(memory, 'fig')]).toEqual([0, 0])
  })

  test('is remembered up to 2,000,000 characters: the sessions that were added first are forgotten', async () => {
    const memory = new InMemoryMemoryService()
    const add = (id: string) =>
      memory.addSessionToMemory(sessionOf(id, `${id} known`, ...Array(9).fill(longText(70_000))))
    for (const id of ['a', 'b', 'c']) await add(id)
    expect(await found(memory, 'known')).toBe(3)
    await add('a') // now the newest
    await add('d')
    const { memories } = await memory.searchMemory({ ...ada, query: 'known' })
    expect(memories.map(({ content }) => content.parts[0]?.text).sort()).toEqual(['a known', 'c known', 'd known'])
  })

  test('has the newest messages of a session that is longer, and the first 100,000 characters of a message', async () => {
    const memory = new InMemoryMemoryService()
    const texts = Array.from({ length: 30 }, (_, n) => `number${n} ${longText(150_000)} late`)
    await memory.addSessionToMemory(sessionOf('s1', ...texts))
    expect([await found(memory, 'number0'), await found(memory, 'number29')]).toEqual([0, 1])
    expect(await found(memory, 'late')).toBe(0)
    const { memories } = await memory.searchMemory({ ...ada, query: 'number29' })
    expect(memories[0]?.content.parts[0]?.text?.length).toBe(100_000)
  })
})

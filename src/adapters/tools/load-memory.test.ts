import { expect, test } from 'vitest'
import type { MemoryEntry, MemoryService } from '../../services/memory/service.ts'
import { createToolContext } from '../testing/tool-context.ts'
import { loadMemory } from './load-memory.ts'

const entry = (text: string): MemoryEntry => ({ content: { role: 'user', parts: [{ text }] } })

function remembering(memories: readonly MemoryEntry[]): MemoryService {
  const nothing = async () => {}
  return {
    addSessionToMemory: nothing,
    deleteSession: nothing,
    deleteUser: nothing,
    searchMemory: async () => ({ memories }),
  }
}

const search = (memories: readonly MemoryEntry[]): Promise<{ memories: MemoryEntry[] }> =>
  loadMemory().run({ query: 'tea' }, createToolContext({ memoryService: remembering(memories) })) as Promise<{
    memories: MemoryEntry[]
  }>

test('load_memory returns entries with author and time if known', async () => {
  const whole: MemoryEntry = { ...entry('green tea'), author: 'user', timestamp: 1_700_000_000 }
  expect(await search([whole, entry('black tea')])).toEqual({ memories: [whole, entry('black tea')] })
})

test('load_memory returns the best twenty entries', async () => {
  const { memories } = await search(Array.from({ length: 50 }, (_, i) => entry(`tea ${i}`)))
  expect(memories).toHaveLength(20)
  expect(memories[19]).toEqual(entry('tea 19'))
})

test('load_memory returns only visible text, shortened', async () => {
  const parts = [
    { text: 'let me think', thought: true },
    { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
    { text: 'x'.repeat(1e6) },
  ]
  const { memories } = await search([
    { content: { role: 'model', parts: parts.slice(0, 2) } },
    { content: { role: 'model', parts } },
  ])
  expect(memories).toEqual([{ content: { role: 'model', parts: [{ text: `${'x'.repeat(7_999)}…` }] } }])
})

test('load_memory reports a missing memory service', async () => {
  await expect(loadMemory().run({ query: 'tea' }, createToolContext())).rejects.toThrow('memoryService')
})

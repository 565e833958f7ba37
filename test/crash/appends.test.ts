// The same for Postgres: src/apps/postgres/processes.test.ts
import { expect, test } from 'vitest'
import { sqliteFiles } from './crash-store.ts'
import { createCrashWorld } from './crash-world.ts'
import { openRawStore } from './rows/open-raw-store.ts'

const PROCESSES = 8
const COUNT = 500

test(`${PROCESSES} processes append ${COUNT} events each to one session on SQLite without a gap, each in its order`, {
  timeout: 120_000,
}, async () => {
  await using world = await createCrashWorld()
  const target = sqliteFiles.open(world, 'appends')
  await world.append({ app: 'appends', store: target, processes: PROCESSES, count: COUNT }) // throws on any error but SESSION_BUSY
  const raw = await openRawStore(target)
  const { seq, entries } = await raw.rows('appends')
  await raw.close()
  expect(seq).toBe(PROCESSES * COUNT)
  expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: PROCESSES * COUNT }, (_, at) => at + 1))
  const next = new Map<string, number>()
  for (const { eventId } of entries) {
    const [name = '', n] = String(eventId).split(' ')
    expect(Number(n), `an event of ${name}`).toBe(next.get(name) ?? 0)
    next.set(name, Number(n) + 1)
  }
  expect([...next.values()]).toEqual(Array(PROCESSES).fill(COUNT))
  // they took turns: no process wrote all of its events in one go
  const names = entries.map(({ eventId }) => String(eventId).split(' ')[0])
  expect(names.filter((name, at) => name !== names[at - 1]).length).toBeGreaterThan(PROCESSES * 10)
})

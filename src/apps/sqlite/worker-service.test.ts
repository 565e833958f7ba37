import { DatabaseSync } from 'node:sqlite'
import { sqlite } from 'toolwright/sqlite'
import { workerServiceSuite } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { temporaryFile } from './temporary-file.test-kit.ts'

workerServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.workerService, close: () => services.close() }
})

const report = {
  appName: 'shop',
  engine: 'store',
  version: '1.0.0',
  agents: 'a1',
  startedAt: 0,
  running: 0,
  continued: 0,
  crashes: 0,
  recoveries: [],
} as const

test('a damaged report is named once, and the other workers are shown', async () => {
  const file = temporaryFile()
  const problems: string[] = []
  const logger = { warn: (problem: string) => void problems.push(problem), error: () => {} }
  using services = sqlite(file, { logger })
  for (const id of ['a', 'b', 'c']) await services.workerService.report({ ...report, id })
  const database = new DatabaseSync(file)
  database.exec(`UPDATE toolwright_workers SET body = '{"id":' WHERE worker = 'a'`)
  database.exec(`UPDATE toolwright_workers SET body = '{"id":"b"}' WHERE worker = 'b'`)
  database.close()
  for (const _ of [1, 2])
    expect((await services.workerService.list({ appName: 'shop', limit: 9 })).map(({ id }) => id)).toEqual(['c'])
  expect(problems.toSorted()).toEqual([
    expect.stringContaining('The report of worker "a" is damaged'),
    expect.stringContaining('The report of worker "b" is damaged'),
  ])
})

test('a report from before a restart of the machine, whose clock begins again, is lost and can be swept', async () => {
  const file = temporaryFile()
  {
    using before = sqlite(file, { monotonicNow: () => 90_000_000 })
    await before.workerService.report({ ...report, id: 'old' })
  }
  using after = sqlite(file, { monotonicNow: () => 40_000 })
  await after.workerService.report({ ...report, id: 'new' })
  const seen = await after.workerService.list({ appName: 'shop', limit: 9 })
  expect(Object.fromEntries(seen.map(({ id, unseenMs }) => [id, unseenMs]))).toEqual({ old: 40_000, new: 0 })
  expect(await after.workerService.sweep({ appName: 'shop', unseenMs: 3_600_000 })).toBe(1)
})

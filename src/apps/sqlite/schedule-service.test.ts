import { DatabaseSync } from 'node:sqlite'
import { sqlite } from 'toolwright/sqlite'
import { scheduleServiceSuite } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { temporaryFile } from './temporary-file.test-kit.ts'

scheduleServiceSuite(test, (options) => {
  const services = sqlite(temporaryFile(), options)
  return { service: services.scheduleService, close: () => services.close() }
})

test('a damaged schedule is reported with its row, and the others start their runs', async () => {
  const file = temporaryFile()
  const problems: string[] = []
  const logger = { warn: (problem: string) => void problems.push(problem), error: () => {} }
  using services = sqlite(file, { logger })
  const { scheduleService } = services
  const base = {
    appName: 'shop',
    userId: 'ada',
    uid: 'u',
    missed: 'once',
    createdAt: 0,
    wakeAt: 1,
    revision: 'r',
  } as const
  const message = { role: 'user', parts: [{ text: 'Report.' }] } as const
  const state = { type: 'waiting', tick: 1 } as const
  const timing = { type: 'at', at: 1 } as const
  for (const id of ['a', 'b', 'c']) await scheduleService.saveSchedule({ ...base, message, state, timing, id }, null)
  const database = new DatabaseSync(file)
  database.exec(`UPDATE toolwright_schedules SET body = '{"id":' WHERE schedule = 'a'`)
  database.exec(`UPDATE toolwright_schedules SET body = '{"id":"b"}' WHERE schedule = 'b'`)
  database.close()
  const due = await scheduleService.dueSchedules({ appName: 'shop', now: 5, limit: 9 })
  expect(due.map(({ id }) => id)).toEqual(['c'])
  expect((await scheduleService.listSchedules({ appName: 'shop', limit: 9 })).items.map(({ id }) => id)).toEqual(['c'])
  expect(problems).toHaveLength(2)
  expect(problems[0]).toContain('The schedule in row 1 is damaged')
})

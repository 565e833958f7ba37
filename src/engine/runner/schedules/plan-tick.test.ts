import type { ScheduleOptions } from 'toolwright'
import { describe, expect, test } from 'vitest'
import type { StoredSchedule } from '../../../services/schedule/service.ts'
import { afterStart, planTick } from './plan-tick.ts'
import { toStoredSchedule } from './schedule-rules.ts'
import { ticksOf } from './ticks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const time = (text: string): number => new Date(text).getTime()

function create(options: Partial<ScheduleOptions>, now: number): Promise<StoredSchedule> {
  const ports = { now: () => now, newId: () => 'id' }
  const services = { ports, maxResultBytes: 1_000 } as never
  return toStoredSchedule('shop', { userId: 'ada', message: 'Report.', ...options }, services)
}

/** The ticks that start runs when a worker looks at these times, each of which it starts at once. */
async function ticksAt(
  options: Partial<ScheduleOptions>,
  created: number,
  looks: readonly number[],
): Promise<string[]> {
  let schedule = await create(options, created)
  const next = await ticksOf(schedule.timing)
  const started: string[] = []
  for (const now of looks) {
    while (schedule.state.type !== 'ended' && schedule.wakeAt <= now) {
      const plan = planTick(schedule, next, now)
      if (plan.type === 'delete') break
      if (plan.type === 'claim') started.push(new Date(plan.schedule.state.tick).toISOString())
      schedule = plan.type === 'claim' ? afterStart(plan.schedule, next, 's1', now) : plan.schedule
    }
  }
  return started
}

describe('missed ticks', () => {
  const created = time('2027-01-01T00:00:30Z')
  const looks = [created + 30_000, created + 3.5 * HOUR]

  test('`once` starts one run for all missed ticks, with the time of the latest', async () => {
    const ticks = await ticksAt({ cron: '0 * * * *' }, created, looks)
    expect(ticks).toEqual(['2027-01-01T03:00:00.000Z'])
  })

  test('`skip` leaves missed ticks out, and starts the next one in time', async () => {
    const ticks = await ticksAt({ cron: '0 * * * *', missed: 'skip' }, created, [
      ...looks,
      time('2027-01-01T05:00:10Z'),
    ])
    expect(ticks).toEqual(['2027-01-01T05:00:00.000Z'])
    expect(await ticksAt({ at: new Date(created + HOUR), missed: 'skip' }, created, looks)).toEqual([])
  })

  test('`all` starts a run for each missed tick, in order, at most the latest 100', async () => {
    const few = await ticksAt({ cron: '0 * * * *', missed: 'all' }, created, looks)
    expect(few.map((tick) => tick.slice(11, 13))).toEqual(['01', '02', '03'])
    const days = await ticksAt({ every: MINUTE, missed: 'all' }, created, [created + 48 * HOUR])
    expect(days).toHaveLength(100)
    expect(days.at(-1)).toBe(new Date(created + 48 * HOUR).toISOString())
  })

  test('years of missed seconds are found without counting them', async () => {
    const ticks = await ticksAt({ cron: '* * * * * *' }, created, [created + 5 * 366 * 24 * HOUR])
    expect(ticks).toEqual([new Date(created + 5 * 366 * 24 * HOUR).toISOString()])
  })
})

describe('a clock that is set', () => {
  const created = time('2027-01-01T00:00:00Z')
  const at = (minutes: number): number => created + minutes * MINUTE

  test('back starts no tick again, and goes on when the clock has come back', async () => {
    const ticks = await ticksAt({ every: MINUTE }, created, [at(1), at(2), at(-30), at(-29), at(1), at(2), at(3)])
    expect(ticks.map((tick) => tick.slice(14, 16))).toEqual(['01', '02', '03'])
  })

  test('forward starts what is due then, each tick once, and not again when it is set back', async () => {
    const ticks = await ticksAt({ every: MINUTE }, created, [at(1), at(500), at(2), at(3), at(500), at(501)])
    expect(ticks).toEqual([at(1), at(500), at(501)].map((one) => new Date(one).toISOString()))
  })
})

describe('time zones', () => {
  const looks = (from: string, hours: number): number[] =>
    Array.from({ length: hours * 4 }, (_, quarter) => time(from) + quarter * 15 * MINUTE)

  test('a daily tick keeps its local time over both changes of daylight saving time', async () => {
    const daily = { cron: '0 8 * * *', timeZone: 'Europe/Berlin' }
    const spring = await ticksAt(daily, time('2026-03-27T12:00:00Z'), looks('2026-03-27T12:00:00Z', 72))
    expect(spring).toEqual(['2026-03-28T07:00:00.000Z', '2026-03-29T06:00:00.000Z', '2026-03-30T06:00:00.000Z'])
    const autumn = await ticksAt(daily, time('2026-10-23T12:00:00Z'), looks('2026-10-23T12:00:00Z', 72))
    expect(autumn).toEqual(['2026-10-24T06:00:00.000Z', '2026-10-25T07:00:00.000Z', '2026-10-26T07:00:00.000Z'])
  })

  test('a time that does not exist starts once after the gap, and a time that exists twice starts once', async () => {
    const night = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }
    const spring = await ticksAt(night, time('2026-03-28T12:00:00Z'), looks('2026-03-28T12:00:00Z', 24))
    expect(spring).toEqual(['2026-03-29T01:00:00.000Z']) // 03:00 in Berlin
    const autumn = await ticksAt(night, time('2026-10-24T12:00:00Z'), looks('2026-10-24T12:00:00Z', 24))
    expect(autumn).toEqual(['2026-10-25T00:30:00.000Z'])
  })

  test('the default time zone is UTC, whatever the process has', async () => {
    const ticks = await ticksAt({ cron: '0 8 * * *' }, time('2027-07-01T00:00:00Z'), [time('2027-07-01T08:00:00Z')])
    expect(ticks).toEqual(['2027-07-01T08:00:00.000Z'])
  })
})

test.each([
  [{ every: 0 }, 'every` must be a whole number of milliseconds from 1000'],
  [{ every: -5 }, 'got -5'],
  [{ every: Number.NaN }, 'got NaN'],
  [{ every: '60s' as never }, 'got a string'],
  [{ every: 1e15 }, 'from 1000 to'],
  [{ cron: '0 0 30 2 *' }, 'never fires'],
  [{ cron: '61 * * * *' }, 'is not valid'],
  [{ cron: 'every day' }, 'Write five fields'],
  [{ cron: '2027-01-01T00:00:00' }, 'Write five fields'],
  [{ cron: `0 0 * * ${'1,'.repeat(500)}1` }, 'is not valid'],
  [{ cron: 5 as never }, 'must be a string'],
  [{ cron: '0 8 * * *', timeZone: 'Mars/Olympus' }, 'must be an IANA time zone'],
  [{ every: 60_000, timeZone: 'UTC' }, '`timeZone` is for `cron`'],
  [{ at: 'tomorrow' }, 'needs a date, a time and a time zone'],
  [{ at: '2027-01-01' }, 'needs a date, a time and a time zone'],
  [{ at: '2027-13-01T00:00:00Z' }, 'must be a valid Date'],
  [{ at: new Date(Number.NaN) }, 'must be a valid Date'],
  [{ at: new Date(1_798_761_600) }, 'A Date takes milliseconds, not seconds'],
  [{ at: 5 as never }, 'must be a valid Date'],
  [{}, 'exactly one of'],
  [{ every: 60_000, cron: '0 8 * * *' }, 'exactly one of'],
  [{ every: 60_000, message: '' }, 'The message is empty'],
  [{ every: 60_000, message: [{ functionResponse: { id: 'x', name: 'y', response: {} } }] }, 'cannot hold answers'],
  [{ every: 60_000, id: '' }, 'The id of a schedule'],
])('refuses a schedule with %j', async (options, message) => {
  const created = create(options as Partial<ScheduleOptions>, time('2027-01-01T00:00:00Z'))
  await expect(created).rejects.toThrow(message)
  await expect(created).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

// Checks the options of `runner.schedule()`, and makes the schedule that is stored.

import { canonicalJson } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ScheduleTimes } from '../../../services/schedule/schedule-times.ts'
import type { ScheduleTiming, StoredSchedule } from '../../../services/schedule/service.ts'
import { checkId } from '../../../services/session/check-key.ts'
import { toContent } from '../request-rules.ts'
import type { RunServices } from '../run-services.ts'
import type { ScheduleOptions } from './schedule-options.ts'
import { ticksOf } from './ticks.ts'

/** The least time between two ticks, in milliseconds. */
const MIN_EVERY_MS = 1_000
/** The longest time between two ticks: longer ones do not fit a timestamp after some of them. */
const MAX_EVERY_MS = 10 * 366 * 24 * 3_600_000
/** How far in the past `at` may be: a request may be late, but 1970 is seconds taken for milliseconds. */
const MAX_LATE_MS = 24 * 3_600_000
const MAX_CRON_LENGTH = 200

/** The schedule to store, with its first tick. Throws INVALID_REQUEST with what to change. */
export async function toStoredSchedule(
  appName: string,
  options: ScheduleOptions,
  { ports, maxResultBytes }: Pick<RunServices, 'ports' | 'maxResultBytes'>,
): Promise<StoredSchedule> {
  const { userId, sessionId, id = ports.newId(), missed = 'once' } = options
  checkId('userId', userId)
  checkId('The id of a schedule', id)
  if (sessionId !== undefined) checkId('sessionId', sessionId)
  const message = toContent(options.message, maxResultBytes)
  if (message.parts.some((part) => part.functionResponse))
    throw invalid('a message cannot hold answers. Record them with runner.answer()')
  const now = ports.now()
  const timing = toTiming(options, now)
  const next = await ticksOf(timing)
  const tick = timing.type === 'at' ? timing.at : next(now)
  if (tick === undefined)
    throw invalid(`the cron line ${JSON.stringify(options.cron)} never fires. Check its day and its month`)
  const times = { timing, missed, createdAt: now, state: { type: 'waiting', tick } as const, wakeAt: tick }
  const owner = { appName, id, userId, ...(sessionId !== undefined && { sessionId }) }
  return { ...owner, uid: ports.newId(), message, ...times, revision: ports.newId() }
}

/** Does a stored schedule do what a new one would do? Its next tick stays as it is. */
export function isSameSchedule(stored: StoredSchedule, made: StoredSchedule): boolean {
  return canonicalJson(definitionOf(stored)) === canonicalJson(definitionOf(made))
}

function definitionOf({ userId, sessionId = '', message, timing, missed }: StoredSchedule) {
  // the first tick of `every` depends on when the schedule was created
  const times = timing.type === 'every' ? { type: timing.type, everyMs: timing.everyMs } : timing
  return { userId, sessionId, message, timing: times, missed }
}

/** The checked times of a schedule. Throws INVALID_REQUEST with what to change. */
export function toTiming({ at, every, cron, timeZone }: ScheduleTimes, now: number): ScheduleTiming {
  const given = [at, every, cron].filter((one) => one !== undefined)
  if (given.length !== 1) throw invalid('pass exactly one of `at`, `every` and `cron`')
  if (timeZone !== undefined && cron === undefined)
    throw invalid('`timeZone` is for `cron`. Write the time zone of `at` into it, such as 2027-03-01T08:00:00+01:00')
  if (at !== undefined) return { type: 'at', at: toTime(at, now) }
  if (every !== undefined) return { type: 'every', everyMs: toInterval(every), from: now }
  return { type: 'cron', cron: toCronLine(cron), timeZone: toTimeZone(timeZone) }
}

function toTime(at: unknown, now: number): number {
  if (typeof at === 'string' && !/\dT.*(Z|[+-]\d\d:?\d\d)$/i.test(at))
    throw invalid('`at` needs a date, a time and a time zone, such as 2027-03-01T08:00:00Z')
  const time = at instanceof Date || typeof at === 'string' ? new Date(at).getTime() : Number.NaN
  if (!Number.isFinite(time))
    throw invalid(`\`at\` must be a valid Date or a text such as 2027-03-01T08:00:00Z, got ${kindOf(at)}`)
  if (time < now - MAX_LATE_MS)
    throw invalid(
      `\`at\` is ${new Date(time).toISOString()}, more than a day ago. A Date takes milliseconds, not seconds`,
    )
  return time
}

function toInterval(every: unknown): number {
  if (typeof every === 'number' && Number.isInteger(every) && every >= MIN_EVERY_MS && every <= MAX_EVERY_MS)
    return every
  const got = typeof every === 'number' ? String(every) : kindOf(every)
  throw invalid(`\`every\` must be a whole number of milliseconds from ${MIN_EVERY_MS} to ${MAX_EVERY_MS}, got ${got}`)
}

function toCronLine(cron: unknown): string {
  const hint = 'Write five fields, such as "0 8 * * 1-5" for 8:00 from Monday to Friday, and `at` for one time'
  if (typeof cron !== 'string') throw invalid(`\`cron\` must be a string, got ${kindOf(cron)}. ${hint}`)
  const line = cron.trim()
  const isLine = /^@[a-z]+$/i.test(line) || line.split(/\s+/).length >= 5
  if (!isLine || line.length > MAX_CRON_LENGTH)
    throw invalid(`the cron line ${JSON.stringify(line.slice(0, MAX_CRON_LENGTH))} is not valid. ${hint}`)
  return line
}

function toTimeZone(timeZone: unknown = 'UTC'): string {
  try {
    if (typeof timeZone === 'string') new Intl.DateTimeFormat('en', { timeZone })
    else throw new TypeError('not a string')
    return timeZone
  } catch (cause) {
    const got = typeof timeZone === 'string' ? JSON.stringify(timeZone.slice(0, 100)) : kindOf(timeZone)
    const message = `\`timeZone\` must be an IANA time zone, such as Europe/Oslo, got ${got}`
    throw new ToolwrightError('INVALID_REQUEST', `runner.schedule(): ${message}.`, { cause })
  }
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `runner.schedule(): ${problem}.`)
}

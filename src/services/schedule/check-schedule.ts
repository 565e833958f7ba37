// Checks the members of stored schedules that workers rely on: a store that other programs can write to may hold anything.
import { isRecord } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkId, checkTogether } from '../session/check-key.ts'
import type { StoredSchedule } from './service.ts'

/** Throws INVALID_REQUEST if a schedule cannot be stored. */
export function checkSchedule(schedule: StoredSchedule): void {
  checkId('appName', schedule.appName)
  checkId('userId', schedule.userId)
  checkId('The id of a schedule', schedule.id)
  if (schedule.sessionId !== undefined) checkId('sessionId', schedule.sessionId)
  const problem = findScheduleProblem(schedule)
  if (problem !== undefined)
    throw new ToolwrightError(
      'INVALID_REQUEST',
      `A schedule cannot be stored: ${problem}. Create it with runner.schedule().`,
    )
}

/** Throws INVALID_REQUEST if a new schedule has ids that are too long together. */
export function checkNewSchedule({ appName, id, userId, sessionId = '' }: StoredSchedule): void {
  checkTogether({ appName, id })
  checkTogether({ appName, userId, sessionId })
}

/** Why the value is not a valid schedule; undefined if it is valid. */
export function findScheduleProblem(schedule: unknown): string | undefined {
  if (!isRecord(schedule)) return 'it is not an object'
  for (const name of ['appName', 'id', 'userId', 'uid', 'revision'])
    if (typeof schedule[name] !== 'string') return `${name} is not a string`
  if (schedule.sessionId !== undefined && typeof schedule.sessionId !== 'string') return 'sessionId is not a string'
  if (!isRecord(schedule.message) || !Array.isArray(schedule.message.parts)) return 'message has no parts'
  if (!['skip', 'once', 'all'].includes(schedule.missed as string)) return 'missed is not skip, once or all'
  for (const name of ['createdAt', 'wakeAt']) if (!Number.isFinite(schedule[name])) return `${name} is not a number`
  return timingProblem(schedule.timing) ?? stateProblem(schedule.state)
}

function timingProblem(timing: unknown): string | undefined {
  if (!isRecord(timing)) return 'timing is not an object'
  const { type, at, everyMs, from, cron, timeZone } = timing
  if (type === 'at') return Number.isFinite(at) ? undefined : 'timing.at is not a number'
  if (type === 'every') {
    if (!(typeof everyMs === 'number' && everyMs > 0)) return 'timing.everyMs is not a number above 0'
    return Number.isFinite(from) ? undefined : 'timing.from is not a number'
  }
  if (type !== 'cron') return 'timing.type is not at, every or cron'
  return typeof cron === 'string' && typeof timeZone === 'string' ? undefined : 'timing.cron is not a string'
}

function stateProblem(state: unknown): string | undefined {
  if (!isRecord(state)) return 'state is not an object'
  if (state.type === 'ended') return undefined
  if (!['waiting', 'starting', 'delayed'].includes(state.type as string)) return 'state.type is unknown'
  if (!Number.isFinite(state.tick)) return 'state.tick is not a number'
  if (state.type === 'waiting') return undefined
  return Number.isInteger(state.attempt) && Number.isInteger(state.failures)
    ? undefined
    : 'state.attempt or state.failures is not a number'
}

// Checks the members of reports that readers rely on: a store that other programs can write to may hold anything.
import { isRecord } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkId } from '../session/check-key.ts'
import type { WorkerReport } from './service.ts'

/** The most characters of a text in a report. */
const MAX_TEXT = 200
/** The most ranges of recovery times. */
const MAX_RANGES = 100

/** Throws INVALID_REQUEST if a report cannot be stored. */
export function checkReport(report: WorkerReport): void {
  checkId('appName', report.appName)
  checkId('The id of a worker', report.id)
  const problem = findReportProblem(report)
  if (problem !== undefined)
    throw new ToolwrightError('INVALID_REQUEST', `A report of a worker cannot be stored: ${problem}.`)
}

/** Why the value is not a valid report; undefined if it is valid. */
export function findReportProblem(report: unknown): string | undefined {
  if (!isRecord(report)) return 'it is not an object'
  for (const name of ['appName', 'id']) if (typeof report[name] !== 'string') return `${name} is not a string`
  for (const name of ['version', 'agents', 'label'])
    if (!isShortText(report[name]) && !(name === 'label' && report.label === undefined))
      return `${name} is not a text of at most ${MAX_TEXT} characters`
  if (report.engine !== 'store' && report.engine !== 'restate') return 'engine is not "store" or "restate"'
  for (const name of ['startedAt', 'running', 'continued', 'crashes'])
    if (!isAmount(report[name])) return `${name} is not a number >= 0`
  const { recoveries } = report
  if (!Array.isArray(recoveries) || recoveries.length > MAX_RANGES) return 'recoveries is not a short list'
  const isSound = recoveries.every((one) => isRecord(one) && isAmount(one.upToMs) && isAmount(one.count))
  return isSound ? undefined : 'recoveries has something else than upToMs and count'
}

function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_TEXT
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

import { kindOf } from '../../../core/base/kind-of.ts'
import type { ReadonlyState } from '../../context/context.ts'
import { refusePromise } from './refuse-promise.ts'
import type { ReportProblem } from './report-problem.ts'

/** A condition over state, such as `isTrue('verified')`. */
export type StateCondition = (state: ReadonlyState) => boolean

/**
 * Reads a condition that the developer wrote. A condition that throws, or that returns anything but true, false or
 * undefined, counts as false and is reported: an async function returns a promise, which would always count as true.
 *
 * @param what Names the condition in reports, such as `guard of phase "pay"`.
 */
export function readCondition(what: string, read: () => unknown, report: ReportProblem): boolean {
  try {
    const value = read()
    if (value === undefined || typeof value === 'boolean') return value === true
    refusePromise(value)
    throw new TypeError(`It returned ${kindOf(value)}. Return true or false.`)
  } catch (error) {
    report(`The ${what} failed and counts as false.`, error)
    return false
  }
}

// For tests only: state, reports and errors of live sessions without a session.
import type { ReadonlyState, State } from '../../context/context.ts'
import { readonlyState, WritableState } from '../../context/state.ts'
import type { ReportProblem } from './report-problem.ts'
import type { WatchedSession } from './watched-session.ts'

/** Read-only state with these values. */
export function stateOf(values: Record<string, unknown> = {}): ReadonlyState {
  return readonlyState(new Map(Object.entries(values)))
}

/** Writable state with these values. */
export function writableStateOf(values: Record<string, unknown> = {}): State {
  return new WritableState(new Map(Object.entries(values)))
}

/** A session that only keeps what it was sent. */
export function fakeSession(): WatchedSession & { readonly sent: string[] } {
  const sent: string[] = []
  return { sent, state: writableStateOf(), send: (input) => sent.push(input) }
}

/** A report function that keeps what was reported. */
export function keepReports(): { report: ReportProblem; problems: string[]; errors: unknown[] } {
  const problems: string[] = []
  const errors: unknown[] = []
  return {
    problems,
    errors,
    report: (problem, error) => {
      problems.push(problem)
      errors.push(error)
    },
  }
}

/** A report function for tests in which nothing goes wrong. */
export const failOnReport: ReportProblem = (problem, error) => {
  throw new Error(`unexpected problem: ${problem}`, { cause: error })
}

/** What a function throws. Undefined if it throws nothing. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

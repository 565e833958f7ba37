/**
 * The work units that one validation may spend. Applying one schema to one part of a value costs about one unit. The
 * largest value that is validated has 200,000 parts, so ordinary schemas spend a fraction.
 */
export const MAX_WORK = 4_000_000

/** The work units that one validation has left. */
export interface WorkBudget {
  /** Units left. */
  left: number
}

/** Thrown when a validation has spent its work units. */
export class WorkLimitError extends Error {}

/** Spends work units before the work is done. Throws `WorkLimitError`. */
export function spendWork(work: WorkBudget, units: number): void {
  work.left -= units
  if (work.left < 0) throw new WorkLimitError('The value takes too much work to validate.')
}

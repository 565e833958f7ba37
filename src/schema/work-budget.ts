/**
 * How much work one validation may cost. A unit is about one schema applied to one part of a value. The largest value
 * that is validated at all has 200,000 parts, so an honest schema uses a fraction of it.
 */
export const MAX_WORK = 4_000_000

/** What is left of the work one validation may cost. */
export interface WorkBudget {
  left: number
}

/** Thrown where validation would cost more than `MAX_WORK`. */
export class WorkLimitError extends Error {}

/** Counts work before it is done. */
export function spendWork(work: WorkBudget, units: number): void {
  work.left -= units
  if (work.left < 0) throw new WorkLimitError('The value takes too much work to validate.')
}

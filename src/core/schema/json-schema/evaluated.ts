import { spendWork, type WorkBudget } from '../work-budget.ts'

/** The keys and indexes that keywords have covered: "unevaluatedProperties" and "unevaluatedItems" skip them. */
export interface Evaluated {
  /** Is every key or index covered? */
  all: boolean
  /** The covered keys or indexes. */
  readonly keys: Set<PropertyKey>
}

/** An empty record of covered keys. */
export function createEvaluated(): Evaluated {
  return { all: false, keys: new Set() }
}

/** Adds the covered keys of one record to another. */
export function mergeEvaluated(from: Evaluated, into: Evaluated, work: WorkBudget): void {
  if (from.all) into.all = true
  spendWork(work, 1 + 4 * from.keys.size)
  for (const key of from.keys) into.keys.add(key)
}

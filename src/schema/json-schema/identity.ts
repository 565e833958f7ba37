import { spendWork, type WorkBudget } from '../work-budget.ts'

/** A text that equal JSON values have in common and no others: the order of keys does not count, `1` is `1.0`. */
export function identityOf(value: unknown, work: WorkBudget): string {
  if (typeof value === 'string') {
    spendWork(work, 1 + (value.length >> 4))
    return JSON.stringify(value)
  }
  spendWork(work, 1)
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? String(value + 0) : String(value)
  if (Array.isArray(value)) return `[${value.map((item) => identityOf(item, work)).join(',')}]`
  const record = value as { [key: string]: unknown }
  return `{${Object.keys(record)
    .sort()
    .map((key) => `${identityOf(key, work)}:${identityOf(record[key], work)}`)
    .join(',')}}`
}

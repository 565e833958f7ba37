import { spendWork, type WorkBudget } from '../work-budget.ts'

/** A text that is the same for equal JSON values and different for others. The order of keys does not count. */
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

/** Do all items differ? */
export function hasUniqueItems(items: readonly unknown[], work: WorkBudget): boolean {
  spendWork(work, items.length >> 2)
  const simple = new Set<unknown>()
  const compound = new Set<string>()
  for (const item of items) {
    if (typeof item === 'object' && item !== null) compound.add(identityOf(item, work))
    else simple.add(item)
  }
  return simple.size + compound.size === items.length
}

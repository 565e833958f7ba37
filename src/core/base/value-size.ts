import { MAX_DEPTH } from './json.ts'

/** The most parts of a value. Values with more parts are refused. */
const MAX_PARTS = 200_000

/** What is expected instead of a value that is too large or too deep to validate; undefined if it can be validated. */
export function findSizeProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const left = countDown(value, MAX_PARTS, 0)
  if (left >= 0) return undefined
  return left === DEEP ? `at most ${MAX_DEPTH} levels of nesting` : 'a smaller value'
}

/** Counts the parts of a value, the value itself included. */
export function countParts(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + MAX_PARTS - countDown(value, MAX_PARTS, 0) : 1
}

const DEEP = Number.NEGATIVE_INFINITY

/** Counts down from `budget`. Returns a negative number when it is used up, and `DEEP` for a value that is too deep. */
function countDown(value: object, budget: number, depth: number): number {
  if (depth > MAX_DEPTH) return DEEP
  if (ArrayBuffer.isView(value)) return budget
  let left = budget
  if (Array.isArray(value)) {
    left -= value.length
    for (let i = 0; i < value.length && left >= 0; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object' && item !== null) left = countDown(item, left, depth + 1)
    }
    return left
  }
  for (const key in value) {
    if (--left < 0) return left
    const item = (value as { [key: string]: unknown })[key]
    if (typeof item === 'object' && item !== null) left = countDown(item, left, depth + 1)
  }
  return left
}

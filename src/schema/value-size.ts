import { MAX_DEPTH } from '../base/json.ts'
import type { Parsed } from './issues.ts'

/** The most parts of a value. Values with more parts are refused. */
const MAX_PARTS = 200_000

const TOO_DEEP: Parsed = { issues: [{ path: '', expected: `at most ${MAX_DEPTH} levels of nesting` }] }
const TOO_LARGE: Parsed = { issues: [{ path: '', expected: 'a smaller value' }] }

/** The issue of a value that is too large or too deep to validate; undefined if it can be validated. */
export function findSizeProblem(value: unknown): Parsed | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const left = countDown(value, MAX_PARTS, 0)
  return left === DEEP ? TOO_DEEP : left < 0 ? TOO_LARGE : undefined
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

import { MAX_DEPTH } from '../base/json.ts'
import type { Parsed } from './issues.ts'

/** More parts than any honest argument or result has. */
const MAX_PARTS = 200_000

const tooDeep: Parsed = { issues: [{ path: '', expected: `at most ${MAX_DEPTH} levels of nesting` }] }
const tooLarge: Parsed = { issues: [{ path: '', expected: 'a smaller value' }] }

/** What is wrong with a value's size, before a validator recurses into it; undefined when nothing is. */
export function findSizeProblem(value: unknown): Parsed | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const left = count(value, MAX_PARTS, 0)
  return left === DEEP ? tooDeep : left < 0 ? tooLarge : undefined
}

/** How many parts a value has, itself included. */
export function countParts(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + MAX_PARTS - count(value, MAX_PARTS, 0) : 1
}

const DEEP = Number.NEGATIVE_INFINITY

// Gives what is left of the budget: negative when it is used up.
function count(value: object, budget: number, depth: number): number {
  if (depth > MAX_DEPTH) return DEEP
  if (ArrayBuffer.isView(value)) return budget
  let left = budget
  if (Array.isArray(value)) {
    left -= value.length
    for (let i = 0; i < value.length && left >= 0; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object' && item !== null) left = count(item, left, depth + 1)
    }
    return left
  }
  for (const key in value) {
    if (--left < 0) return left
    const item = (value as { [key: string]: unknown })[key]
    if (typeof item === 'object' && item !== null) left = count(item, left, depth + 1)
  }
  return left
}

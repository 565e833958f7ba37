import { isRecord } from '../../../src/core/base/json.ts'

/** A difference between two JSON values at one position. */
export interface Difference {
  /** The position, such as `items[2].price`; empty for the value itself. */
  readonly path: string
  /** The value before; undefined if there was none. */
  readonly before: unknown
  /** The value after; undefined if there is none. */
  readonly after: unknown
}

/** More differences are counted, not shown. */
export const MOST_DIFFERENCES = 100

/** Lists where two JSON values differ, in order. Stops after `MOST_DIFFERENCES`. */
export function differences(before: unknown, after: unknown): readonly Difference[] {
  const found: Difference[] = []
  compare({ path: '', before, after }, found, 0)
  return found
}

const MOST_LEVELS = 50

function compare({ path, before, after }: Difference, found: Difference[], level: number): void {
  if (found.length > MOST_DIFFERENCES) return
  if (level < MOST_LEVELS && isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inner = path === '' ? key : `${path}.${key}`
      compare({ path: inner, before: own(before, key), after: own(after, key) }, found, level + 1)
    }
  } else if (level < MOST_LEVELS && Array.isArray(before) && Array.isArray(after)) {
    for (let at = 0; at < Math.max(before.length, after.length); at++)
      compare({ path: `${path}[${at}]`, before: before[at], after: after[at] }, found, level + 1)
  } else if (JSON.stringify(before) !== JSON.stringify(after)) found.push({ path, before, after })
}

function own(value: { [key: string]: unknown }, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

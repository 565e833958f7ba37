// Paths into a value (`customer.ssn`, `items[].token`, `*.password`) and what is left when they are hidden.
import { isRecord, setOwn } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'

/** One step of a path: a key, an index, or any. */
export type PathStep = string | number | typeof ANY

const ANY: unique symbol = Symbol('any')

/** Reads a path, or gives undefined when it is none. */
export function readPath(path: unknown): PathStep[] | undefined {
  if (typeof path !== 'string' || path === '') return undefined
  const steps: PathStep[] = []
  for (const part of path.split('.')) {
    const found = /^([^[\]]*)((?:\[(?:\d+|\*)?\])*)$/.exec(part)
    if (!found || part === '') return undefined
    const [, key = '', brackets = ''] = found
    if (key !== '') steps.push(key === '*' ? ANY : key)
    else if (steps.length > 0) return undefined
    for (const [, index] of brackets.matchAll(/\[(\d+|\*)?\]/g))
      steps.push(index === undefined || index === '*' ? ANY : Number(index))
  }
  return steps
}

/**
 * The value as it would be recorded (see `toPlain`), with `[redacted]` where the paths lead. What would be recorded is the
 * only form in which nothing is left to hide: no `toJSON`, no getter, no object that contains itself. Never throws.
 */
export function redactPaths(value: unknown, paths: readonly (readonly PathStep[])[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  let shown = toPlain(value).value
  for (const path of paths) shown = redactPath(shown, path, 0)
  return shown
}

function redactPath(value: unknown, path: readonly PathStep[], at: number): unknown {
  const step = path[at]
  if (step === undefined) return '[redacted]'
  if (Array.isArray(value)) {
    // A key that meets a list means each of its items: forgetting the [] must not show what was to be hidden.
    if (typeof step === 'string') return value.map((item) => redactPath(item, path, at))
    return value.map((item, i) => (step === ANY || step === i ? redactPath(item, path, at + 1) : item))
  }
  if (!isRecord(value)) return value
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(value)) {
    const matches = step === ANY || String(step) === key
    setOwn(copy, key, matches ? redactPath(value[key], path, at + 1) : value[key])
  }
  return copy
}

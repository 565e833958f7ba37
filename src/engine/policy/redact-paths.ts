// Reads paths into a value (`customer.ssn`, `items[].token`, `*.password`) and redacts what they point to.

import { isRecord, setOwn } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'

/** One step of a path: a key, an index, or any key or index. */
export type PathStep = string | number | typeof ANY

const ANY: unique symbol = Symbol('any')

/** Reads a path. Undefined when it is invalid. */
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
 * The value as plain JSON (see `toPlain`), with `[redacted]` at the paths. Plain JSON has no `toJSON`,
 * getters or cycles that could still show the value. Never throws.
 */
export function redactPaths(value: unknown, paths: readonly (readonly PathStep[])[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  let redacted = toJsonValue(value).value
  for (const path of paths) redacted = redactPath(redacted, path, 0)
  return redacted
}

function redactPath(value: unknown, path: readonly PathStep[], at: number): unknown {
  const step = path[at]
  if (step === undefined) return '[redacted]'
  if (Array.isArray(value)) {
    // a key applies to every item of a list: a path without [] must not show the value
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

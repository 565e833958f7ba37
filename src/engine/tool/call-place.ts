// Where a tool or a toolset sends its calls: the value of `sendsTo`, to which an approval is bound.
import { MAX_DEPTH, RESERVED_DEPTH } from '../../core/base/json.ts'
import type { Tool } from './tool.ts'

/** A tool or a toolset. */
interface Sender {
  /** Where calls go. */
  readonly sendsTo?: Tool['sendsTo']
}

/**
 * `sendsTo` as tools and toolsets of the framework keep it: a function, because their members are printed, and an address may
 * contain a password.
 */
export function hidePlace(sender: Sender): NonNullable<Tool['sendsTo']> {
  const { sendsTo } = sender
  return typeof sendsTo === 'function' ? sendsTo.bind(sender) : () => sender.sendsTo
}

/**
 * Does the JSON form of a value contain all of it? The private state of an instance, a function or a number such as NaN is not in
 * its JSON form: an approval would stay valid after a change of it.
 */
export function isPlace(value: unknown): boolean {
  try {
    return isData(value, 0)
  } catch {
    return false // a getter or a toJSON that throws
  }
}

function isData(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value)
    case 'function':
    case 'symbol':
      return false
    case 'object':
      return value === null || (depth < MAX_DEPTH - RESERVED_DEPTH && hasOnlyData(value, depth + 1))
    default:
      return true
  }
}

function hasOnlyData(value: object, depth: number): boolean {
  const areData = (items: Iterable<unknown>): boolean => Array.from(items).every((item) => isData(item, depth))
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) return areData(value)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof RegExp) return true
  if ('toJSON' in value && typeof value.toJSON === 'function') return isData(value.toJSON(), depth) // such as a URL
  const prototype: unknown = Object.getPrototypeOf(value)
  const isInstance = prototype !== null && Object.getPrototypeOf(prototype) !== null
  return !isInstance && areData(Object.values(value))
}

import { hideAllCredentials } from '../../services/auth/config/hide-credentials.ts'
import { hidePlace } from './call-place.ts'
import type { Tool } from './tool.ts'

/** Members that are methods. They run on the original tool, because they may need its private state. */
const METHODS = new Set<PropertyKey>([
  'declaration',
  'run',
  'parse',
  'reconcile',
  'cancel',
  'requiresConfirmation',
  'confirmationHint',
  'toModelOutput',
  'sendsTo',
  'processLlmRequest',
])

/**
 * Creates a tool that replaces some members of another tool. All other members are forwarded to the original, including symbol
 * properties and members that `Tool` does not know. Methods run on the original, so that classes with private state work.
 *
 * @example
 * const renamed = overrideTool(search, { description: 'Search our handbook' })
 */
export function overrideTool<T extends Tool>(
  tool: T,
  overrides: Partial<Tool> & { readonly [symbol: symbol]: unknown },
): T {
  const made: object = Object.create(Object.getPrototypeOf(tool))
  for (const key of memberKeys(tool)) {
    if (Object.hasOwn(overrides, key)) continue
    const value: unknown = key === 'sendsTo' && tool.sendsTo !== undefined ? hidePlace(tool) : Reflect.get(tool, key)
    if (typeof value === 'function' && (METHODS.has(key) || !Object.hasOwn(tool, key)))
      define(made, key, { value: value.bind(tool), writable: true })
    else if (METHODS.has(key))
      define(made, key, { get: () => Reflect.get(tool, key) }) // no setter: code must not replace a gate
    else define(made, key, { get: () => read(tool, key), set: (changed) => Reflect.set(tool, key, changed) })
  }
  for (const key of Reflect.ownKeys(overrides))
    define(made, key, { value: Reflect.get(overrides, key), writable: true })
  // The cast is true: every member of T is forwarded or replaced by one of the same type. Frozen like the result of `tool()`.
  return Object.freeze(made) as T
}

/** A hand-written tool may hold secrets in its `authConfig`. */
function read(tool: Tool, key: PropertyKey): unknown {
  return key === 'authConfig' ? hideAllCredentials(tool.authConfig) : Reflect.get(tool, key)
}

function memberKeys(tool: object): Set<PropertyKey> {
  const keys = new Set<PropertyKey>()
  for (let from: object | null = tool; from && from !== Object.prototype; from = Object.getPrototypeOf(from))
    for (const key of Reflect.ownKeys(from)) keys.add(key)
  keys.delete('constructor')
  return keys
}

function define(target: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
  Object.defineProperty(target, key, { ...descriptor, enumerable: true, configurable: true })
}

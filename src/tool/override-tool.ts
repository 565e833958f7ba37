import type { Tool } from './tool.ts'

/** Members that are called on the tool: bound to the original, whose private state they may need. */
const METHODS = new Set<PropertyKey>([
  'declaration',
  'run',
  'parse',
  'reconcile',
  'cancel',
  'requiresConfirmation',
  'confirmationHint',
  'toModelOutput',
  'processLlmRequest',
])

/**
 * A new tool that is the given one but for some members. Everything else is forwarded: the contract, members of the
 * tool's own, symbol properties. Methods run on the original, so that classes with private state work.
 *
 * @example
 * const renamed = delegate(search, { description: 'Search our handbook' })
 */
export function overrideTool<T extends Tool>(
  tool: T,
  overrides: Partial<Tool> & { readonly [mark: symbol]: unknown },
): T {
  const made: object = Object.create(Object.getPrototypeOf(tool))
  for (const key of memberKeys(tool)) {
    if (Object.hasOwn(overrides, key)) continue
    const value: unknown = Reflect.get(tool, key)
    if (typeof value === 'function' && (METHODS.has(key) || !Object.hasOwn(tool, key)))
      define(made, key, { value: value.bind(tool), writable: true })
    else if (METHODS.has(key))
      define(made, key, { get: () => Reflect.get(tool, key) }) // a gate can be read only
    else define(made, key, { get: () => Reflect.get(tool, key), set: (changed) => Reflect.set(tool, key, changed) })
  }
  for (const key of Reflect.ownKeys(overrides))
    define(made, key, { value: Reflect.get(overrides, key), writable: true })
  // Every member of T is there: forwarded, or replaced by one of the same type. Frozen like what `tool()` makes.
  return Object.freeze(made) as T
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

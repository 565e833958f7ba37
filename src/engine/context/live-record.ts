import { copyJson } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'

/** Where a live record reads and writes its members. */
interface LiveSource {
  /** Returns the current members. Undefined if there are none. */
  read(): { readonly [key: string]: unknown } | undefined
  /** Sets a member. */
  write(key: string, value: unknown): void
  /** Deletes a member. */
  drop(key: string): void
  /** Members that can be read even while they are empty. They are live records themselves. */
  readonly always?: { readonly [key: string]: object }
}

const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Creates a proxy that reads and writes a source and holds no members itself. Reads return copies. */
export function liveRecord<T extends { [key: string]: unknown }>(name: string, source: LiveSource): T {
  const { always = {} } = source
  const own = (key: PropertyKey): key is string => Object.hasOwn(source.read() ?? {}, key)
  const valueAt = (key: string): unknown => {
    const value = Object.hasOwn(always, key) ? always[key] : source.read()?.[key]
    return value === always[key] ? value : copyJson(value)
  }
  const write = (key: PropertyKey, value: unknown): true => {
    if (typeof key === 'symbol')
      throw new ToolwrightError('INVALID_REQUEST', `A key of context.actions.${name} must be a string, got a symbol.`)
    source.write(String(key), value)
    return true
  }
  // console.log shows the target of a proxy, which is empty here
  const target = Object.defineProperty({} as T, INSPECT, {
    value: () => copyJson(source.read() ?? {}),
    configurable: true,
  })
  return new Proxy(target, {
    get: (_target, key) => {
      if (typeof key === 'symbol') return Reflect.get(target, key)
      const isKnown: boolean = own(key) || Object.hasOwn(always, key)
      if (isKnown) return valueAt(key)
      // a model can choose the key: it must not reach Object.prototype
      return key === '__proto__' ? undefined : Reflect.get(target, key)
    },
    has: (_target, key) => own(key) || Reflect.has(target, key),
    set: (_target, key, value) => write(key, value),
    defineProperty: (_target, key, descriptor) => 'value' in descriptor && write(key, descriptor.value),
    deleteProperty: (_target, key) => {
      if (own(key)) source.drop(key)
      return true
    },
    ownKeys: () => Object.keys(source.read() ?? {}),
    getOwnPropertyDescriptor: (_target, key) =>
      own(key) ? { value: valueAt(key), writable: true, enumerable: true, configurable: true } : undefined,
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  })
}

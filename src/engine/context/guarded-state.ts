// `context.state` as tool authors see it. In Python, state is a dictionary: a literal port to JavaScript would write to a property of
// the object, which nothing stores. Such a write, delete or read is an error that names the method.
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyState } from './context.ts'

/** Names that promises, JSON and test runners look up on any object. */
const PROBED =
  /^(?:then|toJSON|inspect|nodeType|nodeName|tagName|length|size|calls|asymmetricMatch|hasAttribute|[$_@].*)$/

/** The methods of `State`. They run on the state itself, which has private members. */
const METHODS: readonly PropertyKey[] = ['get', 'has', 'keys', 'set', 'delete']

const HANDLER: ProxyHandler<ReadonlyState> = {
  get(target, key) {
    const value: unknown = Reflect.get(target, key, target)
    if (typeof value === 'function') return METHODS.includes(key) ? value.bind(target) : value
    if (isStateKey(target, key)) throw misuse(key, 'read', `context.state.get(${quote(key)})`)
    return value
  },
  has(target, key) {
    if (isStateKey(target, key)) throw misuse(key, 'looked up', `context.state.has(${quote(key)})`)
    return Reflect.has(target, key)
  },
  set(target, key, value) {
    if (isUnknown(target, key)) throw misuse(key, 'assigned', writer(target, 'set', `${quote(key)}, value`))
    return Reflect.set(target, key, value) // a test may replace a method
  },
  deleteProperty(target, key) {
    if (isUnknown(target, key)) throw misuse(key, 'deleted', writer(target, 'delete', quote(key)))
    return Reflect.deleteProperty(target, key)
  },
  defineProperty(target, key, descriptor) {
    if (isUnknown(target, key)) throw misuse(key, 'assigned', writer(target, 'set', `${quote(key)}, value`))
    return Reflect.defineProperty(target, key, descriptor)
  },
}

/** The state, with an error for every property that is no method of it. */
export function guardState<S extends ReadonlyState>(state: S): S {
  return new Proxy(state, HANDLER as ProxyHandler<S>)
}

/** Does the caller read a key of the state as a property? */
function isStateKey(target: ReadonlyState, key: PropertyKey): key is string {
  return isUnknown(target, key) && !PROBED.test(key)
}

/** Is it no method or other property of the object? Nothing writes such a property by itself. */
function isUnknown(target: ReadonlyState, key: PropertyKey): key is string {
  return typeof key === 'string' && !Reflect.has(target, key)
}

function writer(target: ReadonlyState, method: 'set' | 'delete', args: string): string | undefined {
  return method in target ? `context.state.${method}(${args})` : undefined
}

function quote(key: string): string {
  return JSON.stringify(key.slice(0, 64))
}

function misuse(key: string, what: string, method: string | undefined): ToolwrightError {
  const instead = method === undefined ? 'The state of this context is read-only.' : `Use ${method}.`
  return new ToolwrightError(
    'INVALID_REQUEST',
    `context.state[${quote(key)}] cannot be ${what}: state has methods, not properties. ${instead}`,
  )
}

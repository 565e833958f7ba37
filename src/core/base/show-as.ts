// What console.log, util.inspect and JSON.stringify show of objects that hold secrets. The symbol is the one of Node's `util`,
// by name: the root entry point imports no module of Node.

const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** The value that is shown instead of a secret. */
export const HIDDEN = '[hidden]'

/**
 * Shows other members of an object, or of all objects with this prototype. Only what `show` returns is printed: members that are
 * added later stay hidden until they are listed there.
 */
export function showAs<T extends object>(target: T, kind: string, show: (object: T) => object): T {
  const members = {
    toJSON: function (this: T): object {
      return show(this)
    },
    [INSPECT]: function (this: T): object {
      return Object.defineProperty({ ...show(this) }, Symbol.toStringTag, { value: kind })
    },
  }
  for (const key of Reflect.ownKeys(members)) {
    Object.defineProperty(target, key, { value: Reflect.get(members, key), configurable: true, writable: true })
  }
  return target
}

/** A view of an object whose members can be read, spread and compared, and are not printed. It follows later changes. */
export function hiddenView<T extends object>(original: T, kind: string, show: (original: T) => object): T {
  const view: object = {}
  for (const key of memberNames(original)) {
    Object.defineProperty(view, key, { enumerable: true, configurable: true, get: () => Reflect.get(original, key) })
  }
  return showAs(view as T, kind, () => show(original)) // the cast holds: every member reads that of the original
}

/** The names of all members, with those that an instance inherits from its class. */
function memberNames(object: object): Set<string> {
  const names = new Set<string>()
  for (let from: object | null = object; from && from !== Object.prototype; from = Object.getPrototypeOf(from))
    for (const name of Object.getOwnPropertyNames(from)) names.add(name)
  names.delete('constructor')
  return names
}

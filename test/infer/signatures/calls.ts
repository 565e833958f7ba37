// TypeScript text that calls the functions of the fixtures with drawn values, for the compiler to check.
import { isRecord } from '../../../src/core/base/json.ts'

/** What TypeScript needs besides the value, because JSON does not say it. */
interface Notation {
  /** The members of a string enum, by value. */
  readonly members?: { readonly [value: string]: string }
  /** The functions that make branded strings and numbers. */
  readonly strings?: string
  readonly numbers?: string
  /** The function that makes branded keys of the objects inside of the argument. */
  readonly keys?: string
  /** Properties of type `T | undefined` that TypeScript needs, and JSON leaves out. */
  readonly undefinedProperties?: readonly string[]
}

const COLORS = { red: 'shared.Color.Red', green: 'shared.Color.Green' }

const NOTATIONS: { readonly [key: string]: Notation } = {
  'positional.enumDefault': { members: COLORS },
  'values.stringEnum': { members: COLORS },
  'values.constantEnum': { members: { on: 'shared.Flag.On', off: 'shared.Flag.Off' } },
  'values.singleEnum': { members: { only: 'shared.Single.Only' } },
  'values.brandedText': { strings: 'shared.userId' },
  'values.brandedKeys': { keys: 'shared.userId' },
  'values.brandedNumber': { numbers: 'shared.cents' },
  'objects.exactOptional': { undefinedProperties: ['c'] },
}

/** Stands for the context in the arguments of a body. */
export const CONTEXT: object = Object.freeze({})

/** A call of a function with the values that its body got. */
export function callText(key: string, received: readonly unknown[]): string {
  const notation = NOTATIONS[key] ?? {}
  const values = received.map((value) => text(value, notation, 0))
  return `${key}(${values.join(', ')})`
}

/** A value as an expression. Dates and bytes are written as what the body gets. */
function text(value: unknown, notation: Notation, depth: number): string {
  if (value === CONTEXT) return 'context'
  if (value instanceof Date) return `new Date(${JSON.stringify(value.toISOString())})`
  if (value instanceof Uint8Array) return `new Uint8Array([${value.join(', ')}])`
  if (typeof value === 'string') return notation.members?.[value] ?? branded(notation.strings, JSON.stringify(value))
  if (typeof value === 'number') return branded(notation.numbers, Object.is(value, -0) ? '-0' : String(value))
  if (Array.isArray(value)) return `[${value.map((item) => text(item, notation, depth + 1)).join(', ')}]`
  if (!isRecord(value)) return String(value)
  const absent = Object.fromEntries((notation.undefinedProperties ?? []).map((name) => [name, undefined]))
  const properties = Object.entries({ ...absent, ...value }).map(
    ([name, inner]) =>
      `${depth > 0 && notation.keys ? `[${notation.keys}(${JSON.stringify(name)})]` : keyText(name)}: ${text(inner, notation, depth + 1)}`,
  )
  return `{ ${properties.join(', ')} }`
}

/** Without brackets, `"__proto__": ...` would set the prototype. */
function keyText(name: string): string {
  return name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)
}

function branded(make: string | undefined, literal: string): string {
  return make === undefined ? literal : `${make}(${literal})`
}

/** Whether a call needs more than the value. */
export function needsNotation(key: string): boolean {
  return Object.hasOwn(NOTATIONS, key)
}

// Values that JSON cannot hold: what they are called, and what to use instead.

/** What the kinds are called in messages. */
export const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ['date', 'a Date'],
  ['bigint', 'a bigint'],
  ['symbol', 'a symbol'],
  ['function', 'a function'],
  ['map', 'a Map'],
  ['set', 'a Set'],
  ['undefined', 'undefined'],
  ['void', 'undefined'],
  ['nan', 'NaN'],
  ['promise', 'a promise'],
  ['file', 'a File'],
  ['blob', 'a Blob'],
  ['instance', 'an instance of a class'],
  ['custom', 'a value of a custom type'],
  ['transform', 'a value of any type (a transform by itself)'],
])

const CURES: ReadonlyMap<string, string> = new Map([
  ['bigint', 'Use a string or an integer, and convert it in run.'],
  ['map', 'Use a record.'],
  ['set', 'Use an array.'],
  ['undefined', 'Leave the property out, or make it optional.'],
  ['void', 'Leave it out.'],
  ['transform', 'Put the schema of what the model sends before it: z.string().transform(...).'],
])

const DATE_CURES: ReadonlyMap<string, string> = new Map([
  ['zod', 'Use z.iso.datetime() and convert it in run, or z.iso.datetime().pipe(z.coerce.date()).'],
  ['valibot', 'Use v.pipe(v.string(), v.isoTimestamp()), followed by v.transform((text) => new Date(text)) or not.'],
  ['arktype', 'Use "string.date.iso", or "string.date.iso.parse" to get a Date.'],
])

/** The cure for a value that JSON cannot hold. */
export function adviceFor(kind: string, vendor = ''): string {
  if (kind === 'date') return DATE_CURES.get(vendor) ?? 'Use a string of format "date-time", and convert it in run.'
  return CURES.get(kind) ?? 'Describe it as JSON (string, number, object, array), and convert it in run.'
}

/** The kind of a value that JSON cannot hold; undefined for one it can. Looks at the value, not at its parts. */
export function findUnsupportedKind(value: unknown): { readonly name: string; readonly noun: string } | undefined {
  const name = kindOf(value)
  return name === undefined ? undefined : { name, noun: KIND_NAMES.get(name) ?? name }
}

function kindOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : 'nan'
    case 'object':
      return value === null || Array.isArray(value) ? undefined : kindOfObject(value)
    default:
      return typeof value
  }
}

function kindOfObject(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Of another realm too: the prototype of a plain object has none itself.
  if (prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null)
    return undefined
  const tag = Object.prototype.toString.call(value).slice(8, -1).toLowerCase()
  return KIND_NAMES.has(tag) ? tag : 'instance'
}

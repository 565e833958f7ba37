// Kinds of values that JSON cannot hold, with their names in messages and advice.

/** The names of the kinds in messages. */
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

const ADVICE: ReadonlyMap<string, string> = new Map([
  ['bigint', 'Use a string or an integer, and convert it in run.'],
  ['map', 'Use a record.'],
  ['set', 'Use an array.'],
  ['undefined', 'Leave the property out, or make it optional.'],
  ['void', 'Leave it out.'],
  ['transform', 'Begin with the schema of the value that the model sends: z.string().transform(...).'],
])

const DATE_ADVICE: ReadonlyMap<string, string> = new Map([
  ['zod', 'Use z.iso.datetime() and convert it in run, or z.iso.datetime().pipe(z.coerce.date()).'],
  ['valibot', 'Use v.pipe(v.string(), v.isoTimestamp()). Add v.transform((text) => new Date(text)) to get a Date.'],
  ['arktype', 'Use "string.date.iso", or "string.date.iso.parse" to get a Date.'],
])

/** What to use instead of a value that JSON cannot hold. */
export function adviceFor(kind: string, vendor = ''): string {
  if (kind === 'date') return DATE_ADVICE.get(vendor) ?? 'Use a string of format "date-time", and convert it in run.'
  return ADVICE.get(kind) ?? 'Describe it as JSON (string, number, object, array), and convert it in run.'
}

/** The kind of a value that JSON cannot hold; undefined if JSON can hold it. Does not look at the parts of the value. */
export function findUnsupportedKind(value: unknown): { readonly name: string; readonly noun: string } | undefined {
  const name = unsupportedKind(value)
  return name === undefined ? undefined : { name, noun: KIND_NAMES.get(name) ?? name }
}

function unsupportedKind(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : 'nan'
    case 'object':
      return value === null || Array.isArray(value) ? undefined : unsupportedObjectKind(value)
    default:
      return typeof value
  }
}

function unsupportedObjectKind(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  // A plain object of another realm has a prototype that has no prototype itself.
  if (prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null)
    return undefined
  const tag = Object.prototype.toString.call(value).slice(8, -1).toLowerCase()
  return KIND_NAMES.has(tag) ? tag : 'instance'
}

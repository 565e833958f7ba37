import type { JsonObject } from '../../../../src/core/base/json.ts'

/** A pattern can take very long on a long text, so that only short ones are checked here. */
const MOST_PATTERN = 200
const MOST_TEXT = 200

/** A kind of text that the form knows. */
export interface TextFormat {
  /** The texts that fit. */
  readonly test: RegExp
  /** What is expected, in words. */
  readonly name: string
  /** The type of the input that takes such a text. Default: any text, with the name as its hint. */
  readonly input?: 'email' | 'url' | 'date' | 'time' | 'datetime-local'
}

const FORMATS = new Map<unknown, TextFormat>([
  ['email', { test: /^[^\s@]+@[^\s@]+$/, name: 'an email address', input: 'email' }],
  ['uri', { test: /^[a-z][a-z\d+.-]*:\S+$/i, name: 'an address such as https://example.com', input: 'url' }],
  ['date', { test: /^\d{4}-\d\d-\d\d$/, name: 'a date such as 2030-01-31', input: 'date' }],
  [
    'date-time',
    { test: /^\d{4}-\d\d-\d\dT\d\d:\d\d/i, name: 'a time such as 2030-01-31T12:00:00Z', input: 'datetime-local' },
  ],
  ['uuid', { test: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, name: 'a UUID' }],
])
const TIME: TextFormat = { test: /^\d\d:\d\d/, name: 'a time such as 12:30', input: 'time' }

/** The format of a text; undefined if the form knows none. Zod writes times of the day as a pattern. */
export function formatOf({ format, pattern }: JsonObject): TextFormat | undefined {
  const isTime = typeof pattern === 'string' && matches(pattern, '23:59') && !matches(pattern, '24:00')
  return FORMATS.get(format) ?? (isTime && !matches(String(pattern), '') ? TIME : undefined)
}

/** What is expected instead of a text; undefined if it fits. */
export function checkText(schema: JsonObject, text: string): string | undefined {
  const { minLength, maxLength, pattern } = schema
  const length = [...text].length
  if (typeof minLength === 'number' && length < minLength) return `at least ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength) return `at most ${maxLength} characters`
  const known = formatOf(schema)
  const isWrong = known?.test.test(text) === false || (typeof pattern === 'string' && !matches(pattern, text))
  return isWrong ? (known?.name ?? `text that matches ${pattern}`) : undefined
}

/** What is expected instead of a number; undefined if it fits, or is no number. */
export function checkNumber(schema: JsonObject, value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (typeof minimum === 'number' && value < minimum) return `at least ${minimum}`
  if (typeof maximum === 'number' && value > maximum) return `at most ${maximum}`
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return `more than ${exclusiveMinimum}`
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return `less than ${exclusiveMaximum}`
  const steps = typeof multipleOf === 'number' && multipleOf > 0 ? value / multipleOf : 0
  return Math.abs(steps - Math.round(steps)) > 1e-9 ? `a multiple of ${multipleOf}` : undefined
}

function matches(pattern: string, text: string): boolean {
  if (pattern.length > MOST_PATTERN || text.length > MOST_TEXT) return true
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true // the server knows more patterns
  }
}

// Checks of JSON values. A check returns one line for each problem.
import { isRecord } from '../../../../core/base/json.ts'
import { kindOf } from '../../../../core/base/kind-of.ts'

/** Checks a value. `path` names it in problems. */
export type Check = (value: unknown, path: string) => string[]

/** Any value. */
export const anything: Check = () => []
/** A string. */
export const text: Check = expect('a string', (value) => typeof value === 'string')
/** A number. */
export const number: Check = expect('a number', (value) => typeof value === 'number')
/** A boolean. */
export const flag: Check = expect('a boolean', (value) => typeof value === 'boolean')
/** An object with any members. */
export const record: Check = expect('an object', isRecord)
/** Text in base64. */
export const base64: Check = expect(
  'base64',
  (value) => typeof value === 'string' && /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value),
)
/** A string with a JSON object. */
export const jsonObject: Check = expect('a string with a JSON object', (value) => {
  try {
    return typeof value === 'string' && isRecord(JSON.parse(value))
  } catch {
    return false
  }
})

/** A string of at most `length` characters. */
export function shortText(length: number): Check {
  return expect(
    `a string of 1 to ${length} characters`,
    (value) => typeof value === 'string' && value !== '' && value.length <= length,
  )
}

/** A string that matches the pattern. */
export function matching(pattern: RegExp): Check {
  return expect(`a string like ${pattern}`, (value) => typeof value === 'string' && pattern.test(value))
}

/** One of the values. */
export function oneOf(...values: readonly unknown[]): Check {
  return expect(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(value))
}

/** A list of values. */
export function listOf(check: Check): Check {
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((item, at) => check(item, `${path}[${at}]`)) : expected('a list', value, path)
}

/** A value that follows one of the checks. Reports the problems of the one that fits best. */
export function anyOf(...checks: readonly Check[]): Check {
  return (value, path) =>
    checks.map((check) => check(value, path)).reduce((best, next) => (next.length < best.length ? next : best))
}

/** An object with exactly these members. */
export function shape(
  required: { readonly [member: string]: Check },
  optional: { readonly [member: string]: Check } = {},
): Check {
  const all = new Map(Object.entries({ ...optional, ...required }))
  return (value, path) => {
    if (!isRecord(value)) return expected('an object', value, path)
    const missing = Object.keys(required).filter((member) => value[member] === undefined)
    return [
      ...missing.map((member) => `${path}.${member} is missing`),
      ...Object.entries(value).flatMap(([member, inner]) => {
        const check = all.get(member)
        if (!check) return [`${path}.${member} is unknown`]
        return inner === undefined ? [] : check(inner, `${path}.${member}`)
      }),
    ]
  }
}

function expect(what: string, accepts: (value: unknown) => boolean): Check {
  return (value, path) => (accepts(value) ? [] : expected(what, value, path))
}

function expected(what: string, value: unknown, path: string): string[] {
  return [`${path} must be ${what}, got ${kindOf(value)}`]
}

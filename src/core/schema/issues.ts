import { clip } from '../base/limits.ts'

/** One problem with a value: its position, and what the schema expects there. An issue never contains the value itself. */
export interface SchemaIssue {
  /** The position, such as `address.street` or `items[2]`; empty for the value itself. */
  readonly path: string
  /** What the schema expects, such as `string of at least 3 characters`. */
  readonly expected: string
  /** The message that the schema has for this case, as in `z.string().min(3, 'Give the full city name')`. */
  readonly message?: string
}

/** The `expected` of an issue that the schema does not describe. */
export const VALID_VALUE = 'a valid value'

/** The result of a check: the value with defaults applied, or the issues. */
export type ParseResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[]; readonly value?: undefined }

/** The result of a validator that threw. Its message is not shown, because it may contain the value. */
export const CHECK_FAILED: ParseResult = {
  issues: [{ path: '', expected: 'a value that can be checked (the check itself failed)' }],
}

const errorsOfChecks: WeakMap<ParseResult, unknown> = new WeakMap()

/** The result of a validator that threw this error. */
export function failedCheck(error: unknown): ParseResult {
  const parsed = { ...CHECK_FAILED }
  errorsOfChecks.set(parsed, error)
  return parsed
}

/** The error of a validator that threw, for the operator. Undefined for other results. */
export function errorOfCheck(parsed: ParseResult): unknown {
  return errorsOfChecks.get(parsed)
}

const MAX_SHOWN = 20
const MAX_TEXT = 4_000

/**
 * The issues in one line, such as `city: expected string; units: expected "celsius" or "fahrenheit"`. With a message of
 * the schema: `city: Give the full city name (expected string of at least 3 characters)`.
 *
 * @param whole The name of the value itself.
 */
export function describeIssues(issues: readonly SchemaIssue[], whole = 'arguments'): string {
  if (issues.length === 0) return `${whole}: expected ${VALID_VALUE}` // a validator that refuses the value without an issue
  return listIssues(issues, ({ path, expected, message }) => {
    const position = path || whole
    if (message === undefined) return `${position}: expected ${expected}`
    return expected === VALID_VALUE ? `${position}: ${message}` : `${position}: ${message} (expected ${expected})`
  })
}

/** The error that the model gets for a result that does not fit the tool's schema. */
export function describeInvalidResult(tool: string, issues: readonly SchemaIssue[]): string {
  return `${tool} returned a result that does not fit its schema: ${describeIssues(issues, 'result')}`
}

/** All issues in one line: at most 20 issues and 4,000 characters. */
export function listIssues(issues: readonly SchemaIssue[], describe: (issue: SchemaIssue) => string): string {
  const shown = issues.slice(0, MAX_SHOWN).map(describe)
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`)
  return clip(shown.join('; '), MAX_TEXT)
}

/** One thing that is wrong with a value: where, and what was expected there. Never the value itself. */
export interface Issue {
  /** `address.street`, `items[2]`; empty for the whole. */
  readonly path: string
  readonly expected: string
  /** What the author of the schema wrote for this case: `z.string().min(3, 'Give the full city name')`. */
  readonly message?: string
}

/** `expected` of an issue about which the schema says nothing more. */
export const VALID_VALUE = 'a valid value'

/** A checked value, defaults applied, or what is wrong with it. */
export type Parsed =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly value?: undefined }

/** A validator that threw: nothing was accepted, and its words may hold the value. */
export const CHECK_FAILED: Parsed = {
  issues: [{ path: '', expected: 'a value that can be checked (the check itself failed)' }],
}

const MAX_SHOWN = 20
const MAX_TEXT = 4_000

/**
 * `city: expected string; units: expected "celsius" or "fahrenheit"`, and with the author's words
 * `city: Give the full city name (expected string of at least 3 characters)`. `whole` names the value itself.
 */
export function describeIssues(issues: readonly Issue[], whole = 'arguments'): string {
  if (issues.length === 0) return `${whole}: expected ${VALID_VALUE}` // a validator that says no and not why
  return listIssues(issues, ({ path, expected, message }) => {
    const place = path || whole
    if (message === undefined) return `${place}: expected ${expected}`
    return expected === VALID_VALUE ? `${place}: ${message}` : `${place}: ${message} (expected ${expected})`
  })
}

/** What the model is told of a result that does not fit. */
export function describeInvalidResult(tool: string, issues: readonly Issue[]): string {
  return `${tool} gave a result that does not fit its schema: ${describeIssues(issues, 'result')}`
}

/** One line for all issues: at most 20 of them and 4,000 characters. */
export function listIssues(issues: readonly Issue[], describe: (issue: Issue) => string): string {
  const shown = issues.slice(0, MAX_SHOWN).map(describe)
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`)
  return clip(shown.join('; '), MAX_TEXT)
}

/** A text, cut where it is too long. */
export function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}...` : text
}

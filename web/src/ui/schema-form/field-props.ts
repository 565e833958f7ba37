import type { JsonObject } from '../../../../src/core/base/json.ts'
import type { SchemaIssue } from '../../../../src/core/schema/issues.ts'
import { formatOf } from './check-scalar.ts'

/** What every field gets. */
export interface FieldProps {
  /** The schema of the value. */
  readonly schema: JsonObject
  /** The whole schema, for references. */
  readonly root: JsonObject
  /** The name shown to the user. */
  readonly label: string
  /** The position of the value, as issues write it. */
  readonly path: string
  /** How deep the field is nested. */
  readonly level: number
  /** The value; undefined if there is none. */
  readonly value: unknown
  /** Must there be a value? */
  readonly isRequired: boolean
  /** What is wrong with the form. */
  readonly issues: readonly SchemaIssue[]
  /** Called with the new value; undefined removes it. */
  onChange(value: unknown): void
}

/** What is wrong with this field, not with one inside it. */
export function issueOf({ issues, path }: Pick<FieldProps, 'issues' | 'path'>): string | undefined {
  const issue = issues.find((one) => one.path === path)
  return issue && (issue.message ?? `Expected ${issue.expected}`)
}

/** The limits of a schema in words, such as `at least 3 characters`. */
export function constraintsOf(schema: JsonObject): string {
  const { minLength, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, pattern, format } =
    schema
  const { minItems, maxItems } = schema
  const known = formatOf(schema)
  return [
    known ? !known.input && known.name : typeof format === 'string' && format, // an input shows what it takes
    range(minLength, maxLength, 'characters'),
    range(minItems, maxItems, 'items'),
    range(minimum, maximum, ''),
    exclusiveMinimum === undefined ? undefined : `more than ${exclusiveMinimum}`,
    exclusiveMaximum === undefined ? undefined : `less than ${exclusiveMaximum}`,
    multipleOf === undefined ? undefined : `a multiple of ${multipleOf}`,
    typeof pattern === 'string' && !known && `matches ${pattern}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** Bounds that only repeat the range of safe integers are no information. */
function range(least: unknown, most: unknown, unit: string): string | undefined {
  const low = typeof least === 'number' && least > Number.MIN_SAFE_INTEGER ? least : undefined
  const high = typeof most === 'number' && most < Number.MAX_SAFE_INTEGER ? most : undefined
  if (low === undefined && high === undefined) return undefined
  const words = low === undefined ? `at most ${high}` : high === undefined ? `at least ${low}` : `${low} to ${high}`
  return unit === '' ? words : `${words} ${unit}`
}

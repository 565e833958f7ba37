import type { WorkBudget } from '../work-budget.ts'
import type { SchemaNode } from './schema-node.ts'

/** One keyword that the value does not satisfy. */
export interface Failure {
  /** The keyword. */
  readonly keyword: string
  /** The schema that has the keyword. */
  readonly schema: { readonly [keyword: string]: unknown }
  /** Keys from the root of the value. */
  readonly path: readonly PropertyKey[]
  /** Keywords from the root of the schema. */
  readonly at: readonly string[]
}

/** The state of one validation. */
export interface Validation {
  /** The work that is left. */
  readonly work: WorkBudget
  /** How many schemas are being applied, one inside the other. */
  depth: number
  /** Keys from the root of the value to the current part. */
  readonly path: PropertyKey[]
  /** Keywords from the root of the schema to the current schema. */
  readonly at: string[]
  /** Collects failures. Undefined: validation stops at the first failure and reports nothing. */
  failures: Failure[] | undefined
}

const MAX_FAILURES = 200

/** Records that the current part does not satisfy a keyword. Returns false, the result of the check. */
export function reportFailure({ failures, path, at }: Validation, { schema }: SchemaNode, keyword: string): false {
  if (failures && failures.length < MAX_FAILURES)
    failures.push({ keyword, schema, path: [...path], at: [...at, keyword] })
  return false
}

/** Records that the current object lacks a property, which `keyword` requires. Returns false. */
export function reportMissing(validation: Validation, { schema }: SchemaNode, key: string, keyword: string): false {
  const { failures, path, at } = validation
  if (failures && failures.length < MAX_FAILURES)
    failures.push({ keyword: 'required', schema, path: [...path, key], at: [...at, keyword] })
  return false
}

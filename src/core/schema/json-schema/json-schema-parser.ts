import { copyJson, type JsonObject, setOwn } from '../../base/json.ts'
import { findSizeProblem } from '../../base/value-size.ts'
import { CHECK_FAILED, type ParseResult } from '../issues.ts'
import { MAX_WORK, type WorkBudget, WorkLimitError } from '../work-budget.ts'
import { applyDefaults } from './apply-defaults.ts'
import type { CheckedSchema } from './check-schema.ts'
import { compileNodes } from './compile-nodes.ts'
import { toIssues } from './json-schema-issues.ts'
import type { SchemaNode } from './schema-node.ts'
import { findFailures, isValid } from './validate.ts'

/** The work budget for collecting all failures. It is smaller than that of the check: the list only improves a message. */
const MAX_REPORT_WORK: number = MAX_WORK / 4

const TOO_MUCH_WORK: ParseResult = {
  issues: [{ path: '', expected: 'a value that takes less work to check against its schema' }],
}

/**
 * The check of a plain JSON Schema (draft 2020-12), in bounded time and without generating code. Throws INVALID_CONFIG if
 * a reference or a pattern cannot be used.
 */
export function createJsonSchemaParser(
  checked: CheckedSchema,
  what: string,
  lenient = false,
): (value: unknown) => ParseResult {
  // A copy, because callers may change the JSON Schema that they get for the model.
  const source = copyJson(checked.jsonSchema)
  const compile = (): SchemaNode => compileNodes(source, { what, lenient })
  // A checked schema without references and patterns always compiles, so its compilation waits for the first value.
  let compiled = checked.hasLinks || checked.hasAddresses ? compile() : undefined
  return (value) => {
    try {
      compiled ??= compile()
      const root = compiled
      const expected = findSizeProblem(value)
      if (expected !== undefined) return { issues: [{ path: '', expected }] }
      const work: WorkBudget = { left: MAX_WORK }
      const copy = withoutUndefined(value)
      if (checked.hasDefaults) applyDefaults(copy, root, work)
      if (isValid(root, copy, work)) return { value: copy }
      return { issues: toIssues(findFailures(root, copy, { left: MAX_REPORT_WORK })) }
    } catch (error) {
      return error instanceof WorkLimitError ? TOO_MUCH_WORK : CHECK_FAILED
    }
  }
}

/** A copy without undefined members, as `JSON.stringify` would write it. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : withoutUndefined(item)))
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    const item = (value as JsonObject)[key]
    if (item !== undefined) setOwn(copy, key, withoutUndefined(item))
  }
  return copy
}

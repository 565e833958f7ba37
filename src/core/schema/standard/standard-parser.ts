import type { StandardSchemaV1 } from '@standard-schema/spec'
import { findSizeProblem } from '../../base/value-size.ts'
import { failedCheck, type ParseResult } from '../issues.ts'
import type { CheckedSchema } from '../json-schema/check-schema.ts'
import { toIssues } from './standard-issues.ts'

/**
 * The check of a Standard Schema. It returns a promise only if the schema does. A validator that throws is reported as
 * an issue. `getChecked` is called for the first value, so that an unused schema is not converted.
 */
export function createStandardParser(
  standard: StandardSchemaV1.Props,
  getChecked: () => CheckedSchema,
): (value: unknown) => ParseResult | Promise<ParseResult> {
  let hasInheritedNames: boolean | undefined
  return (value) => {
    hasInheritedNames ??= getChecked().hasInheritedNames // throws INVALID_CONFIG if the schema cannot be used
    try {
      const expected = findSizeProblem(value)
      if (expected !== undefined) return { issues: [{ path: '', expected }] }
      const result = standard.validate(hasInheritedNames ? withoutPrototypes(value) : value)
      // A validator may return its own kind of promise; callers only know native promises.
      return 'then' in result
        ? Promise.resolve(result)
            .then((settled) => parsed(settled, value))
            .catch(failedCheck)
        : parsed(result, value)
    } catch (error) {
      return failedCheck(error)
    }
  }
}

function parsed(result: StandardSchemaV1.Result<unknown>, value: unknown): ParseResult {
  return result.issues ? { issues: toIssues(result.issues, value) } : { value: result.value }
}

// Validators read `value.toString`. If the schema has such a property, the inherited member must not count as its value.
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const bare: { [key: string]: unknown } = Object.create(null)
  for (const [key, part] of Object.entries(value)) bare[key] = withoutPrototypes(part)
  return bare
}

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CheckedSchema } from './check.ts'
import { sizeProblem } from './measure.ts'
import type { Parsed } from './parsed.ts'
import { standardIssues } from './standard-issues.ts'

/** The check of a Standard Schema: synchronous as long as the schema is; a validator that throws gives an issue. */
export function standardParser(
  standard: StandardSchemaV1.Props,
  checked: CheckedSchema,
): (value: unknown) => Parsed | Promise<Parsed> {
  const read = checked.hasInheritedNames ? withoutPrototypes : undefined
  return (value) => {
    const problem = sizeProblem(value)
    if (problem) return problem
    try {
      const result = standard.validate(read ? read(value) : value)
      return 'then' in result ? result.then(settled, unchecked) : settled(result)
    } catch {
      return unchecked()
    }
  }
}

function settled(result: StandardSchemaV1.Result<unknown>): Parsed {
  return result.issues ? { issues: standardIssues(result.issues) } : { value: result.value }
}

function unchecked(): Parsed {
  return { issues: [{ path: '', expected: 'a value that can be checked (the check itself failed)' }] }
}

// Validators read `value.toString`: where the schema has a property of such a name, an absent one must be absent.
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const bare: { [key: string]: unknown } = Object.create(null)
  for (const [key, part] of Object.entries(value)) bare[key] = withoutPrototypes(part)
  return bare
}

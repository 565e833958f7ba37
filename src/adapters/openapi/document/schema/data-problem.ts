import { findUnsupportedKind } from '../../../../core/schema/unsupported-values.ts'
import { DocumentProblem } from '../api-document.ts'

/** The deepest nesting of a value in a schema. */
const MAX_LEVELS = 100

/**
 * Why a value cannot be part of a JSON Schema; undefined if it can. An object of a developer may hold dates or bigints, which
 * some YAML parsers create. Throws `DocumentProblem` for a value that is nested too deeply.
 */
export function findDataProblem(value: unknown, level = 0): string | undefined {
  if (level > MAX_LEVELS) throw new DocumentProblem('a value in its schema is nested too deeply')
  const kind = findUnsupportedKind(value)
  if (kind) return `it is ${kind.noun}, which JSON cannot hold`
  if (typeof value !== 'object' || value === null) return undefined
  for (const part of Object.values(value)) {
    const problem = findDataProblem(part, level + 1)
    if (problem) return problem
  }
  return undefined
}

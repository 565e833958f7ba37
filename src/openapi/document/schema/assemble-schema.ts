import { type JsonObject, setOwn } from '../../../base/json.ts'
import { DocumentProblem } from '../api-document.ts'
import { MAX_LISTED_DEFINITIONS, MAX_PATTERN_STEPS, MAX_SCHEMA_BYTES, MAX_SCHEMA_PARTS } from '../limits.ts'
import type { Definition, Fragment } from './fragment.ts'
import { measureChain } from './measure-chain.ts'

/** Definitions listed so far in all schemas of a document. */
export interface DefinitionBudget {
  /** Their number. */
  listed: number
}

/**
 * Adds the definitions that the fragments of a schema reach, as "$defs". The definitions are shared between schemas. Throws
 * `DocumentProblem` if a definition cannot be used or if the schema is too large.
 */
export function assembleSchema(
  schema: JsonObject,
  fragments: readonly Fragment[],
  budget: DefinitionBudget,
): JsonObject {
  const reached = new Set<Definition>(fragments.flatMap(({ references }) => [...references]))
  const total = { parts: 1, patternSteps: 0, bytes: JSON.stringify(schema).length }
  for (const { parts, patternSteps } of fragments) add(total, { parts, patternSteps, bytes: 0 })
  // The set grows while it is read.
  for (const definition of reached) {
    if (definition.problem) throw new DocumentProblem(definition.problem)
    measureChain(definition)
    add(total, { ...definition, bytes: definition.bytes + definition.name.length + 4 })
    for (const next of definition.references) reached.add(next)
  }
  if (reached.size === 0) return schema
  budget.listed += reached.size
  if (budget.listed > MAX_LISTED_DEFINITIONS)
    throw new DocumentProblem(`the schemas of the document refer to more than ${MAX_LISTED_DEFINITIONS} definitions`)
  const $defs: JsonObject = {}
  for (const { name, schema: definition } of reached) setOwn($defs, name, definition)
  return { ...schema, $defs }
}

interface Size {
  parts: number
  patternSteps: number
  bytes: number
}

function add(total: Size, { parts, patternSteps, bytes }: Size): void {
  total.parts += parts
  total.patternSteps += patternSteps
  total.bytes += bytes
  if (total.parts > MAX_SCHEMA_PARTS)
    throw new DocumentProblem(`its schema, with the definitions it uses, has more than ${MAX_SCHEMA_PARTS} parts`)
  if (total.bytes > MAX_SCHEMA_BYTES - 100)
    throw new DocumentProblem(`its schema, with the definitions it uses, is larger than ${MAX_SCHEMA_BYTES} bytes`)
  if (total.patternSteps > MAX_PATTERN_STEPS) throw new DocumentProblem('its patterns are too large together')
}

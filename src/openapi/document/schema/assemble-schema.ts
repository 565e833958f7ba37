import { type JsonObject, setOwn } from '../../../base/json.ts'
import { DocumentProblem } from '../api-document.ts'
import { MAX_LISTED_DEFINITIONS, MAX_PATTERN_STEPS, MAX_SCHEMA_BYTES, MAX_SCHEMA_PARTS } from '../limits.ts'
import type { Definition, Fragment } from './fragment.ts'
import { measureChain } from './measure-chain.ts'

/** Puts schemas together with the definitions that they reach. */
export class SchemaAssembler {
  /** The lists of definitions so far. Operations that reach the same definitions share one list. */
  readonly #lists = new Map<string, JsonObject>()
  /** Definitions in all lists together. */
  #listed = 0

  /**
   * Adds the definitions that the fragments of a schema reach, as "$defs". Throws `DocumentProblem` if a definition cannot be
   * used or if the schema is too large.
   */
  assemble(schema: JsonObject, fragments: readonly Fragment[]): JsonObject {
    const reached = new Set<Definition>(fragments.flatMap(({ references }) => [...references]))
    const total: Size = { parts: 1, patternSteps: 0, bytes: JSON.stringify(schema).length }
    for (const fragment of fragments) add(total, fragment, 0)
    // The set grows while it is read.
    for (const definition of reached) {
      if (definition.problem) throw new DocumentProblem(definition.problem)
      measureChain(definition)
      add(total, definition, definition.bytes + definition.name.length + 4)
      for (const next of definition.references) reached.add(next)
    }
    return reached.size === 0 ? schema : { ...schema, $defs: this.#toList(reached) }
  }

  #toList(reached: ReadonlySet<Definition>): JsonObject {
    const sorted = [...reached].sort((one, other) => one.index - other.index)
    const key = sorted.map(({ index }) => index).join()
    const known = this.#lists.get(key)
    if (known) return known
    this.#listed += sorted.length
    if (this.#listed > MAX_LISTED_DEFINITIONS)
      throw new DocumentProblem(`the schemas of the document refer to more than ${MAX_LISTED_DEFINITIONS} definitions`)
    const list: JsonObject = {}
    for (const { name, schema } of sorted) setOwn(list, name, schema)
    this.#lists.set(key, list)
    return list
  }
}

interface Size {
  parts: number
  patternSteps: number
  bytes: number
}

function add(total: Size, { parts, patternSteps }: Fragment, bytes: number): void {
  total.parts += parts
  total.patternSteps += patternSteps
  total.bytes += bytes
  if (total.parts > MAX_SCHEMA_PARTS)
    throw new DocumentProblem(`its schema, with the definitions it uses, has more than ${MAX_SCHEMA_PARTS} parts`)
  if (total.bytes > MAX_SCHEMA_BYTES - 100)
    throw new DocumentProblem(`its schema, with the definitions it uses, is larger than ${MAX_SCHEMA_BYTES} bytes`)
  if (total.patternSteps > MAX_PATTERN_STEPS) throw new DocumentProblem('its patterns are too large together')
}

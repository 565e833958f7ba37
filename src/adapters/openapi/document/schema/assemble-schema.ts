import { type JsonObject, setOwn } from '../../../../core/base/json.ts'
import { DocumentProblem } from '../api-document.ts'
import { MAX_LISTED_DEFINITIONS, MAX_PATTERN_STEPS, MAX_SCHEMA_BYTES, MAX_SCHEMA_PARTS } from '../limits.ts'
import type { Definition, Fragment } from './fragment.ts'
import { loosenSchema } from './loosen-schema.ts'
import { measureChain } from './measure-chain.ts'

/** A schema with its definitions. */
interface AssembledSchema {
  /** The schema. */
  readonly schema: JsonObject
  /** Were definitions left out, because the schema is too large? */
  readonly isCut: boolean
}

/** What stands for a definition that does not fit: it accepts every value. */
const LEFT_OUT: JsonObject = { description: 'Not described here: the schema is too large.' }
const LEFT_OUT_BYTES = JSON.stringify(LEFT_OUT).length

/** Puts schemas together with the definitions that they reach. */
export class SchemaAssembler {
  /** The lists of definitions so far. Operations that reach the same definitions share one list. */
  readonly #lists = new Map<string, JsonObject>()
  /** Definitions in all lists together. */
  #listed = 0

  /**
   * Adds the definitions that the fragments of a schema reach, as "$defs". Leaves out those that do not fit, the nearest ones
   * first in. Throws `DocumentProblem` if a definition cannot be used or if the schema itself is too large.
   */
  assemble(schema: JsonObject, fragments: readonly Fragment[]): AssembledSchema {
    const start = new Set<Definition>(fragments.flatMap(({ references }) => [...references]))
    const own: Size = { parts: 1, patternSteps: 0, bytes: JSON.stringify(schema).length }
    for (const fragment of fragments) add(own, fragment, 0)
    const problem = sizeProblem(own)
    if (problem) throw new DocumentProblem(problem)
    const all = reachAll(start, own)
    if (all?.size === 0) return { schema, isCut: false }
    if (all) return { schema: { ...schema, $defs: this.#toList(all, NONE) }, isCut: false }
    const { reached, leftOut } = reachWhatFits(start, own)
    // the cast is true: an object stays an object
    const loose = loosenSchema(schema) as JsonObject
    return { schema: { ...loose, $defs: this.#toList(reached, leftOut) }, isCut: true }
  }

  #toList(reached: ReadonlySet<Definition>, leftOut: ReadonlySet<Definition>): JsonObject {
    const sorted = [...reached].sort((one, other) => one.index - other.index)
    const key = sorted.map((one) => (leftOut.has(one) ? `-${one.index}` : one.index)).join()
    const known = this.#lists.get(key)
    if (known) return known
    this.#listed += sorted.length
    if (this.#listed > MAX_LISTED_DEFINITIONS)
      throw new DocumentProblem(`the schemas of the document refer to more than ${MAX_LISTED_DEFINITIONS} definitions`)
    const list: JsonObject = {}
    const isCut = leftOut.size > 0
    for (const one of sorted)
      setOwn(list, one.name, leftOut.has(one) ? LEFT_OUT : isCut ? loosenSchema(one.schema) : one.schema)
    this.#lists.set(key, list)
    return list
  }
}

const NONE: ReadonlySet<Definition> = new Set()

/** All definitions that can be reached; undefined if they are too large together. */
function reachAll(start: ReadonlySet<Definition>, own: Size): Set<Definition> | undefined {
  const reached = new Set(start)
  const total = { ...own }
  // The set grows while it is read.
  for (const definition of reached) {
    check(definition)
    add(total, definition, bytesOf(definition))
    if (sizeProblem(total)) return undefined
    for (const next of definition.references) reached.add(next)
  }
  return reached
}

/** The definitions that can be reached, those near the schema first. Those that do not fit are left out. */
function reachWhatFits(
  start: ReadonlySet<Definition>,
  own: Size,
): { reached: Set<Definition>; leftOut: Set<Definition> } {
  const reached = new Set(start)
  const leftOut = new Set<Definition>()
  // Each definition that is reached can be left out, so that room for that is kept.
  let total = { ...own }
  for (const definition of reached) keepRoom(total, definition)
  for (const definition of reached) {
    check(definition)
    const next = [...definition.references].filter((one) => !reached.has(one))
    const grown = { ...total }
    add(grown, definition, bytesOf(definition))
    for (const one of next) keepRoom(grown, one)
    if (sizeProblem(grown)) {
      leftOut.add(definition)
      continue
    }
    total = grown
    for (const one of next) reached.add(one)
  }
  const problem = sizeProblem(total)
  if (problem) throw new DocumentProblem(problem)
  return { reached, leftOut }
}

function check(definition: Definition): void {
  if (definition.problem) throw new DocumentProblem(definition.problem)
  measureChain(definition)
}

function bytesOf({ bytes, name }: Definition): number {
  return bytes + name.length + 4
}

function keepRoom(total: Size, { name }: Definition): void {
  total.parts++
  total.bytes += LEFT_OUT_BYTES + name.length + 4
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
}

function sizeProblem({ parts, bytes, patternSteps }: Size): string | undefined {
  if (parts > MAX_SCHEMA_PARTS) return `its schema has more than ${MAX_SCHEMA_PARTS} parts`
  if (bytes > MAX_SCHEMA_BYTES - 100) return `its schema is larger than ${MAX_SCHEMA_BYTES} bytes`
  return patternSteps > MAX_PATTERN_STEPS ? 'its patterns are too large together' : undefined
}

import type { JsonObject } from '../../../../core/base/json.ts'

/**
 * What a schema is for. Requests leave out read-only properties and responses write-only ones. A `form` is the body of a
 * multipart request: its file properties hold names of artifacts.
 */
export type SchemaUse = 'request' | 'form' | 'response'

/** A converted schema. Its references point to definitions. */
export interface Fragment {
  /** The schema in JSON Schema 2020-12. */
  schema: JsonObject | boolean
  /** The definitions that it refers to. */
  readonly references: Set<Definition>
  /** Those that apply to the same value as the schema, with the number of schemas on the way. */
  readonly sameValue: Map<Definition, number>
  /** The number of schemas in it. */
  parts: number
  /** Steps of its patterns. */
  patternSteps: number
}

/** A converted schema that others refer to. It is converted once for each use. */
export interface Definition extends Fragment {
  /** Its name under "$defs". */
  readonly name: string
  /** Its number in the document. */
  readonly index: number
  /** Its size as JSON. */
  bytes: number
  /** Why it cannot be used. */
  problem: string | undefined
  /** How many schemas apply to one value through it; undefined if not known yet. */
  chain: number | undefined
}

/** A fragment without content. */
export function emptyFragment(): Fragment {
  return { schema: true, references: new Set(), sameValue: new Map(), parts: 0, patternSteps: 0 }
}

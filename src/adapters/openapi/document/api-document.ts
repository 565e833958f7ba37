import type { JsonObject } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import type { Problems } from './problems.ts'

/** A parsed OpenAPI document. */
export interface ApiDocument {
  /** The document as written. */
  readonly root: JsonObject
  /** The version of the specification. */
  readonly version: '2.0' | '3.0' | '3.1' | '3.2'
  /** What was left out of operations that stay usable. */
  readonly notes: Problems
  /** The schemas with "$anchor", by name. Filled at the first reference to one. */
  anchors?: ReadonlyMap<string, JsonObject>
}

/** Why an operation cannot be used. The operation is left out and the others stay usable. */
export class DocumentProblem extends Error {}

/** A text of the document for a message: on one line, and short. */
export function quote(text: string): string {
  return JSON.stringify(clip(text, 100))
}

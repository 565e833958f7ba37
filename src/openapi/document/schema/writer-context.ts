import type { ApiDocument } from '../api-document.ts'
import type { FileProperties } from './file-properties.ts'
import type { Definition, SchemaUse } from './fragment.ts'
import type { HiddenProperties } from './hidden-properties.ts'

/** Whether a pattern can be used, and what it costs. */
export type PatternCheck = { readonly problem: string } | { readonly steps: number }

/** What the writers of all schemas of one document share. */
export interface WriterContext {
  /** The document of the schemas. */
  readonly document: ApiDocument
  /** The properties that requests or responses leave out. */
  readonly hidden: HiddenProperties
  /** The properties of multipart bodies that hold files. */
  readonly files: FileProperties
  /** The definition or the boolean schema that a reference points to. Throws `DocumentProblem`. */
  define(reference: string, use: SchemaUse): Definition | boolean
  /** Counts one schema. Throws `DocumentProblem` if the document has too many. */
  countPart(): void
  /** Checks a pattern, once per document. */
  checkPattern(source: string): PatternCheck
}

import type { ApiDocument } from '../api-document.ts'
import type { FileProperties } from './file-properties.ts'
import type { Definition, SchemaUse } from './fragment.ts'
import type { HiddenProperties } from './hidden-properties.ts'

/** Whether a pattern can be used, and what it costs. */
export type PatternCheck = { readonly problem: string } | { readonly steps: number }

/** Which form of a schema is meant. */
export interface DefinitionVariant {
  /** What the schema is for. */
  readonly use: SchemaUse
  /** Are its alternatives left out? */
  readonly isBase: boolean
}

/** What the writers of all schemas of one document share. */
export interface WriterContext {
  /** The document of the schemas. */
  readonly document: ApiDocument
  /** The properties that requests or responses leave out. */
  readonly hidden: HiddenProperties
  /** The properties of multipart bodies that hold files. */
  readonly files: FileProperties
  /** The definition or the boolean schema that a reference points to. Throws `DocumentProblem`. */
  define(reference: string, variant: DefinitionVariant): Definition | boolean
  /** Is the schema one of the alternatives ("oneOf", "anyOf") of the schema that a reference points to? */
  isAlternative(schema: unknown, reference: string): boolean
  /** Counts one schema. Throws `DocumentProblem` if the document has too many. */
  countPart(): void
  /** Checks a pattern, once per document. */
  checkPattern(source: string): PatternCheck
}

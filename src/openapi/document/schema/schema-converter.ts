import { isRecord, type JsonObject } from '../../../base/json.ts'
import { findPatternProblem } from '../../../schema/json-schema/check-keyword.ts'
import { compilePattern } from '../../../schema/pattern/compile-pattern.ts'
import { type ApiDocument, DocumentProblem } from '../api-document.ts'
import { MAX_CONVERTED_PARTS } from '../limits.ts'
import { resolveReference } from '../references.ts'
import { shortHash } from '../short-hash.ts'
import { FileProperties } from './file-properties.ts'
import { type Definition, emptyFragment, type Fragment, type SchemaUse } from './fragment.ts'
import { HiddenProperties } from './hidden-properties.ts'
import { SchemaWriter } from './schema-writer.ts'
import type { PatternCheck, WriterContext } from './writer-context.ts'

/** Converts the schemas of one document to JSON Schema 2020-12. A schema that many operations use is converted once. */
export class SchemaConverter implements WriterContext {
  /** The document of the schemas. */
  readonly document: ApiDocument
  /** The properties that requests or responses leave out. */
  readonly hidden: HiddenProperties
  /** The properties of multipart bodies that hold files. */
  readonly files: FileProperties
  readonly #definitions = {
    request: new Map<object, Definition>(),
    form: new Map<object, Definition>(),
    response: new Map<object, Definition>(),
  }
  readonly #names = { arguments: new Set<string>(), response: new Set<string>() }
  readonly #pending: (() => void)[] = []
  readonly #patterns = new Map<string, PatternCheck>()
  #parts = 0

  constructor(document: ApiDocument) {
    this.document = document
    this.hidden = new HiddenProperties(document)
    this.files = new FileProperties(document)
  }

  /**
   * Converts a schema, and the definitions it reaches. Throws `DocumentProblem` if the schema itself cannot be used. `label`
   * names it in notes.
   */
  convert(schema: unknown, use: SchemaUse, label: string): Fragment {
    const fragment = emptyFragment()
    new SchemaWriter(this, fragment, { use, label }).writeRoot(schema)
    // Definitions are converted one after the other, so that a long chain of references takes no stack.
    for (let next = this.#pending.pop(); next; next = this.#pending.pop()) next()
    return fragment
  }

  /** The definition or the boolean schema that a reference points to. Throws `DocumentProblem`. */
  define(reference: string, use: SchemaUse): Definition | boolean {
    const target = resolveReference(this.document, reference)
    if (typeof target === 'boolean') return target
    if (!isRecord(target)) throw new DocumentProblem(`it refers to "${reference}", which is not a schema`)
    return this.#definitions[use].get(target) ?? this.#create(target, reference, use)
  }

  /** Counts one schema. Throws `DocumentProblem` if the document has too many. */
  countPart(): void {
    if (++this.#parts > MAX_CONVERTED_PARTS)
      throw new DocumentProblem(`the document has more than ${MAX_CONVERTED_PARTS} schemas`)
  }

  /** Checks a pattern, once per document. */
  checkPattern(source: string): PatternCheck {
    let check = this.#patterns.get(source)
    if (check) return check
    const problem = findPatternProblem(source)
    check = problem === undefined ? { steps: compilePattern(source).size } : { problem }
    this.#patterns.set(source, check)
    return check
  }

  #create(target: JsonObject, reference: string, use: SchemaUse): Definition {
    const name = this.#chooseName(reference, use)
    const index = this.#definitions.request.size + this.#definitions.form.size + this.#definitions.response.size
    const definition: Definition = { ...emptyFragment(), name, index, bytes: 0, problem: undefined, chain: undefined }
    this.#definitions[use].set(target, definition)
    this.#pending.push(() => {
      try {
        new SchemaWriter(this, definition, { use, label: `Schema "${name}"` }).writeRoot(target)
        definition.bytes = JSON.stringify(definition.schema).length
      } catch (error) {
        if (!(error instanceof DocumentProblem)) throw error
        definition.problem = `schema "${name}": ${error.message}`
        definition.references.clear()
      }
    })
    return definition
  }

  /** A component keeps its name. Other parts of the document get a hash of their position, whatever else it contains. */
  #chooseName(reference: string, use: SchemaUse): string {
    const names = use === 'response' ? this.#names.response : this.#names.arguments
    const component = COMPONENT.exec(reference)?.[1]
    const last = reference.slice(reference.lastIndexOf('/') + 1)
    const base = `${component ?? (last.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40) || 'schema')}${use === 'form' ? '_form' : ''}`
    let name = component ? base : `${base}_${shortHash(reference)}`
    for (let i = 2; names.has(name); i++) name = `${base}_${shortHash(reference)}_${i}`
    names.add(name)
    return name
  }
}

const COMPONENT = /^#\/(?:components\/schemas|definitions)\/([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})$/

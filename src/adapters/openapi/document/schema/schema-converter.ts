import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import { findPatternProblem } from '../../../../core/schema/json-schema/check-keyword.ts'
import { compilePattern } from '../../../../core/schema/pattern/compile-pattern.ts'
import { type ApiDocument, DocumentProblem, quote } from '../api-document.ts'
import { MAX_CONVERTED_PARTS } from '../limits.ts'
import { Once } from '../once.ts'
import { resolveReference } from '../references.ts'
import { shortHash } from '../short-hash.ts'
import { alternativesOf } from './composition.ts'
import { FileProperties } from './file-properties.ts'
import { type Definition, emptyFragment, type Fragment, type SchemaUse } from './fragment.ts'
import { HiddenProperties } from './hidden-properties.ts'
import { SchemaWriter } from './schema-writer.ts'
import type { DefinitionVariant, PatternCheck, WriterContext } from './writer-context.ts'

/** Converts the schemas of one document to JSON Schema 2020-12. A schema that many operations use is converted once. */
export class SchemaConverter implements WriterContext {
  /** The document of the schemas. */
  readonly document: ApiDocument
  /** The properties that requests or responses leave out. */
  readonly hidden: HiddenProperties
  /** The properties of multipart bodies that hold files. */
  readonly files: FileProperties
  /** The definitions of each variant, by schema. */
  readonly #definitions = new Map<string, Map<object, Definition>>()
  readonly #alternatives = new Once<JsonObject, ReadonlySet<unknown>>()
  #count = 0
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
  define(reference: string, variant: DefinitionVariant): Definition | boolean {
    const target = resolveReference(this.document, reference)
    if (typeof target === 'boolean') return target
    if (!isRecord(target)) throw new DocumentProblem(`it refers to ${quote(reference)}, which is not a schema`)
    const suffix = `${variant.use === 'form' ? '_form' : ''}${variant.isBase ? '_base' : ''}`
    const key = `${variant.use}${suffix}`
    const known = this.#definitions.get(key) ?? new Map<object, Definition>()
    this.#definitions.set(key, known)
    let definition = known.get(target)
    if (!definition) {
      definition = this.#create(target, this.#chooseName(reference, suffix, variant.use), variant)
      known.set(target, definition)
    }
    return definition
  }

  /** Is the schema one of the alternatives ("oneOf", "anyOf") of the schema that a reference points to? */
  isAlternative(schema: unknown, reference: string): boolean {
    const target = resolveReference(this.document, reference)
    if (!isRecord(target)) return false
    return this.#alternatives.get(target, () => alternativesOf(this.document, target)).has(schema)
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

  #create(target: JsonObject, name: string, { use, isBase }: DefinitionVariant): Definition {
    const index = this.#count++
    const definition: Definition = { ...emptyFragment(), name, index, bytes: 0, problem: undefined, chain: undefined }
    this.#pending.push(() => {
      try {
        const writer = new SchemaWriter(this, definition, { use, label: `Schema "${name}"` })
        if (isBase) writer.writeBase(target)
        else writer.writeRoot(target)
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
  #chooseName(reference: string, suffix: string, use: SchemaUse): string {
    const names = use === 'response' ? this.#names.response : this.#names.arguments
    const component = COMPONENT.exec(reference)?.[1]
    const last = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_-]+/g, '_')
    const base = `${component ?? (last.slice(0, 40) || 'schema')}${suffix}`
    let name = component ? base : `${base}_${shortHash(reference)}`
    for (let i = 2; names.has(name); i++) name = `${base}_${shortHash(reference)}_${i}`
    names.add(name)
    return name
  }
}

const COMPONENT = /^#\/(?:components\/schemas|definitions)\/([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})$/

import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { DocumentProblem } from './api-document.ts'
import { MAX_ALTERNATIVES } from './limits.ts'
import { mediaKind } from './media-types.ts'
import { Once } from './once.ts'
import { followReferences } from './references.ts'
import type { SchemaAssembler } from './schema/assemble-schema.ts'
import type { SchemaConverter } from './schema/schema-converter.ts'

const SUCCESS: readonly string[] = [...Array.from({ length: 100 }, (_, i) => String(200 + i)), '2XX', '2xx']

/** Reads the schemas of successful responses. */
export class ResponseReader {
  readonly #converter: SchemaConverter
  readonly #assembler: SchemaAssembler
  readonly #read = new Once<JsonObject, JsonObject | undefined>()

  constructor(converter: SchemaConverter, assembler: SchemaAssembler) {
    this.#converter = converter
    this.#assembler = assembler
  }

  /**
   * The schema of the first successful response in JSON; undefined if there is none. A schema that cannot be used is left out
   * without a note: the operation works without it, and no model sees it.
   */
  read({ responses, produces }: JsonObject, label: string): JsonObject | undefined {
    const { document } = this.#converter
    if (!isRecord(responses)) return undefined
    try {
      for (const status of SUCCESS) {
        if (!Object.hasOwn(responses, status)) continue
        const response = followReferences(document, responses[status], 'a response')
        const schema = this.#read.get(response, () => this.#convert(response, produces, label))
        if (schema) return schema
      }
    } catch (error) {
      if (!(error instanceof DocumentProblem)) throw error
    }
    return undefined
  }

  #convert(response: JsonObject, produces: unknown, label: string): JsonObject | undefined {
    const schema = this.#findSchema(response, produces)
    if (schema === undefined) return undefined
    const fragment = this.#converter.convert(schema, 'response', `${label}, response`)
    return isRecord(fragment.schema) ? this.#assembler.assemble(fragment.schema, [fragment]).schema : undefined
  }

  #findSchema(response: JsonObject, produces: unknown): unknown {
    const { document } = this.#converter
    if (document.version === '2.0') return isJson(produces ?? document.root.produces) ? response.schema : undefined
    const content = isRecord(response.content) ? response.content : {}
    const type = Object.keys(content).find((mediaType) => mediaKind(mediaType)?.kind === 'json')
    return type === undefined ? undefined : followReferences(document, content[type] ?? {}, 'a response').schema
  }
}

/** Swagger 2 lists the media types of all responses together. */
function isJson(produces: unknown): boolean {
  if (!Array.isArray(produces) || produces.length === 0) return true
  return produces
    .slice(0, MAX_ALTERNATIVES)
    .some((type) => typeof type === 'string' && mediaKind(type)?.kind === 'json')
}

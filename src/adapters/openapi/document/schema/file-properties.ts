// Files in a multipart body. The model names an artifact, and the request holds its content.
import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { ApiDocument } from '../api-document.ts'
import { mediaKind } from '../media-types.ts'
import { Once } from '../once.ts'
import { composedSchemas } from './composition.ts'

const FILE = 'The filename of an artifact, whose content is sent.'

/** The schema of a file for the model. */
export function fileSchema(description?: unknown): JsonObject {
  return { type: 'string', description: typeof description === 'string' ? `${FILE} ${description}` : FILE }
}

/** Finds the properties of multipart bodies that hold files. */
export class FileProperties {
  readonly #document: ApiDocument
  readonly #own = new Once<JsonObject, readonly string[]>()

  constructor(document: ApiDocument) {
    this.#document = document
  }

  /** The schema of a property that holds a file or a list of files; undefined for other properties. */
  toFileSchema(property: unknown): JsonObject | undefined {
    const schemas = composedSchemas(this.#document, property)
    const description = schemas.find((schema) => typeof schema.description === 'string')?.description
    if (schemas.some(isFile)) return fileSchema(description)
    const list = schemas.find(({ items }) => composedSchemas(this.#document, items).some(isFile))
    if (!list) return undefined
    return { type: 'array', items: fileSchema(), ...(typeof description === 'string' && { description }) }
  }

  /** The names of the properties of a schema that hold files. */
  of(schema: unknown): Set<string> {
    return new Set(
      composedSchemas(this.#document, schema).flatMap(({ properties }) =>
        isRecord(properties) ? this.#own.get(properties, () => this.#findNames(properties)) : [],
      ),
    )
  }

  #findNames(properties: JsonObject): readonly string[] {
    return Object.keys(properties).filter((name) => this.toFileSchema(properties[name]) !== undefined)
  }
}

/** Swagger 2 writes `type: file`, OpenAPI 3.0 `format: binary`, later versions the media type of the content. */
function isFile({ type, format, contentMediaType }: JsonObject): boolean {
  if (type === 'file' || format === 'binary') return true
  return typeof contentMediaType === 'string' && mediaKind(contentMediaType)?.kind === 'binary'
}

// Files in a multipart body. The model names an artifact, and the request holds its content.
import { isRecord, type JsonObject } from '../../../base/json.ts'
import type { ApiDocument } from '../api-document.ts'
import { mediaKind } from '../media-types.ts'
import { composedSchemas } from './composition.ts'

const FILE = 'The filename of an artifact, whose content is sent.'

/** The schema of a file for the model. */
export function fileSchema(description?: unknown): JsonObject {
  return { type: 'string', description: typeof description === 'string' ? `${FILE} ${description}` : FILE }
}

/** The schema of a property that holds a file or a list of files; undefined for other properties. */
export function toFileProperty(document: ApiDocument, property: unknown): JsonObject | undefined {
  const schemas = composedSchemas(document, property)
  const description = schemas.find((schema) => typeof schema.description === 'string')?.description
  if (schemas.some(isFile)) return fileSchema(description)
  const list = schemas.find(({ items }) => composedSchemas(document, items).some(isFile))
  if (!list) return undefined
  return { type: 'array', items: fileSchema(), ...(typeof description === 'string' && { description }) }
}

/** The properties of a multipart body that hold files. */
export function findFileProperties(document: ApiDocument, schema: unknown): Set<string> {
  const names = new Set<string>()
  for (const { properties } of composedSchemas(document, schema))
    if (isRecord(properties))
      for (const name of Object.keys(properties)) if (toFileProperty(document, properties[name])) names.add(name)
  return names
}

/** Swagger 2 writes `type: file`, OpenAPI 3.0 `format: binary`, later versions the media type of the content. */
function isFile({ type, format, contentMediaType }: JsonObject): boolean {
  if (type === 'file' || format === 'binary') return true
  return typeof contentMediaType === 'string' && mediaKind(contentMediaType)?.kind === 'binary'
}

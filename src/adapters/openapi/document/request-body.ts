import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { PropertyEncoding, RequestBody } from '../operation.ts'
import { DocumentProblem } from './api-document.ts'
import { type FlatBody, flattenBody } from './flat-body.ts'
import { MAX_PARAMETERS } from './limits.ts'
import { mediaKind, toSentType } from './media-types.ts'
import { Once } from './once.ts'
import { describe } from './parameters.ts'
import { followReferences } from './references.ts'
import { composedSchemas } from './schema/composition.ts'
import { type FileProperties, fileSchema } from './schema/file-properties.ts'
import { emptyFragment, type Fragment } from './schema/fragment.ts'
import type { SchemaConverter } from './schema/schema-converter.ts'

/** A body, and the arguments that can hold it. */
export interface ReadBody {
  /** The body of the operation. */
  readonly body: RequestBody
  /** The schema of the argument `body`. */
  readonly fragment: Fragment
  /** The fields, if they can be arguments of their own. */
  readonly flat: FlatBody | undefined
}

/** Converts request bodies to the form of `ApiOperation`. Each body of the document is converted once. */
export class BodyReader {
  readonly #converter: SchemaConverter
  readonly #read = new Once<JsonObject, ReadBody | undefined>()

  constructor(converter: SchemaConverter) {
    this.#converter = converter
  }

  /** The body with its preferred media type; undefined if the operation has none. Throws `DocumentProblem`. */
  read(given: unknown, label: string): ReadBody | undefined {
    if (given === undefined || given === null) return undefined
    const requestBody = followReferences(this.#converter.document, given, 'the request body')
    return this.#read.get(requestBody, () => this.#convert(requestBody, label))
  }

  #convert({ content, required, description }: JsonObject, label: string): ReadBody | undefined {
    const { files } = this.#converter
    if (content === undefined) return undefined
    if (!isRecord(content)) throw new DocumentProblem('"content" of the request body must be an object')
    const chosen = chooseMedia(this.#converter, content)
    if (!chosen) return undefined
    const { kind, mediaType, media } = chosen
    const fileProperties = kind === 'multipart' ? filesOf(files, media) : new Set<string>()
    const converted = this.#toFragment(chosen, fileProperties, `${label}, body`)
    const fragment = { ...converted, schema: describe(converted.schema, description) }
    const body: RequestBody = {
      isRequired: required === true,
      contentType: toSentType(mediaType),
      kind,
      encoding: kind === 'form' || kind === 'multipart' ? readEncoding(media.encoding) : new Map(),
      fileProperties,
      fields: undefined,
    }
    return { body, fragment, flat: flattenBody(body, fragment) }
  }

  #toFragment({ kind, mediaType, media }: ChosenMedia, files: ReadonlySet<string>, label: string): Fragment {
    const { document } = this.#converter
    const { schema } = media
    if (kind === 'binary') return { ...emptyFragment(), schema: fileSchema(), parts: 1 }
    if (kind === 'text') {
      const isText = composedSchemas(document, schema).some(({ type }) => type === 'string')
      if (isText) return this.#converter.convert(schema, 'request', label)
      return {
        ...emptyFragment(),
        schema: { type: 'string', description: `The text of the ${mediaType} body.` },
        parts: 1,
      }
    }
    if (kind === 'json') return this.#converter.convert(schema ?? {}, 'request', label)
    const form = isRecord(schema) ? schema : { type: 'object' }
    const named = kind === 'multipart' ? withNamedFiles(this.#converter, form, files) : form
    const fragment = this.#converter.convert(named, kind === 'multipart' ? 'form' : 'request', label)
    if (isRecord(fragment.schema) && fragment.schema.type === undefined && fragment.schema.$ref === undefined)
      return { ...fragment, schema: { type: 'object', ...fragment.schema } }
    return fragment
  }
}

interface ChosenMedia {
  readonly kind: RequestBody['kind']
  readonly mediaType: string
  readonly media: JsonObject
}

/** The preferred media type. A form with files is sent as multipart, if the document offers it. */
function chooseMedia({ document, files }: SchemaConverter, content: JsonObject): ChosenMedia | undefined {
  const offered = Object.keys(content).flatMap((mediaType) => {
    const kind = mediaKind(mediaType)
    return kind ? [{ ...kind, mediaType }] : []
  })
  offered.sort((one, other) => one.rank - other.rank)
  const toMedia = (choice: { kind: RequestBody['kind']; mediaType: string }): ChosenMedia => ({
    ...choice,
    media: followReferences(document, content[choice.mediaType] ?? {}, 'the content of the request body'),
  })
  const [first] = offered
  if (!first) return undefined
  const chosen = toMedia(first)
  const multipart = offered.find(({ kind }) => kind === 'multipart')
  return first.kind === 'form' && multipart && filesOf(files, chosen.media).size > 0 ? toMedia(multipart) : chosen
}

/** Properties that hold files, by their schema or by the media type of their part. */
function filesOf(properties: FileProperties, { schema, encoding }: JsonObject): Set<string> {
  const files = properties.of(schema)
  for (const [name, { contentType }] of readEncoding(encoding))
    if (contentType !== undefined && mediaKind(contentType)?.kind === 'binary') files.add(name)
  return files
}

/** Marks the properties that only their encoding tells to be files. Their schema may be empty. */
function withNamedFiles(converter: SchemaConverter, schema: JsonObject, files: ReadonlySet<string>): JsonObject {
  const known = converter.files.of(schema)
  const named = [...files].filter((name) => !known.has(name))
  if (named.length === 0) return schema
  const base = followReferences(converter.document, schema, 'the schema of the body')
  const properties = isRecord(base.properties) ? base.properties : {}
  const marked = named.map((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, { description: isRecord(property) ? property.description : undefined, format: 'binary' }] as const
  })
  return { ...base, properties: { ...properties, ...Object.fromEntries(marked) } }
}

const STYLES = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const

function readEncoding(encoding: unknown): Map<string, PropertyEncoding> {
  const read = new Map<string, PropertyEncoding>()
  for (const [name, entry] of isRecord(encoding) ? Object.entries(encoding).slice(0, MAX_PARAMETERS) : []) {
    if (!isRecord(entry)) continue
    const style = STYLES.find((one) => one === entry.style)
    read.set(name, {
      contentType: typeof entry.contentType === 'string' ? entry.contentType : undefined,
      style,
      explode: typeof entry.explode === 'boolean' ? entry.explode : style === undefined || style === 'form',
      allowReserved: entry.allowReserved === true,
    })
  }
  return read
}

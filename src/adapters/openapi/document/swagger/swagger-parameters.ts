// The parameters of Swagger 2 in the form of OpenAPI 3. Only what is used is translated, so that one wrong part does not
// take the whole document away.
import { isRecord, type JsonObject, setOwn } from '../../../../core/base/json.ts'
import { DocumentProblem, quote } from '../api-document.ts'
import { MAX_ALTERNATIVES } from '../limits.ts'

/** A parameter in path, query or headers. Throws `DocumentProblem`. */
export function toParameter(parameter: JsonObject): JsonObject {
  const { name, in: place, required, description, collectionFormat } = parameter
  return { name, in: place, required, description, schema: toSchema(parameter), ...toStyle(collectionFormat, place) }
}

/** The request body, from the parameters in `body` or `formData`; undefined if there are none. */
export function toRequestBody(parameters: readonly JsonObject[], consumes: unknown): JsonObject | undefined {
  const types = Array.isArray(consumes)
    ? consumes.slice(0, MAX_ALTERNATIVES).filter((type) => typeof type === 'string')
    : []
  const body = parameters.find((parameter) => parameter.in === 'body')
  if (body) {
    const { schema = {}, description, required } = body
    return { description, required, content: toContent(types.length > 0 ? types : ['application/json'], { schema }) }
  }
  const fields = parameters.filter((parameter) => parameter.in === 'formData')
  if (fields.length === 0) return undefined
  const hasFiles = fields.some((field) => field.type === 'file')
  const offered = types.filter((type) => /^(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(type))
  const usual = hasFiles ? 'multipart/form-data' : 'application/x-www-form-urlencoded'
  const suitable = hasFiles ? offered.filter((type) => /^multipart/i.test(type)) : offered
  return {
    required: fields.some((field) => field.required === true),
    content: toContent(suitable.length > 0 ? suitable : [usual], toForm(fields)),
  }
}

function toContent(types: readonly string[], media: JsonObject): JsonObject {
  const content: JsonObject = {}
  for (const type of types) setOwn(content, type, media)
  return content
}

function toForm(fields: readonly JsonObject[]): JsonObject {
  const properties: JsonObject = {}
  const encoding: JsonObject = {}
  const required: string[] = []
  for (const field of fields) {
    if (typeof field.name !== 'string') continue
    const { description, collectionFormat } = field
    setOwn(properties, field.name, { ...toSchema(field), description })
    if (field.type === 'array') setOwn(encoding, field.name, toStyle(collectionFormat, 'query'))
    if (field.required === true) required.push(field.name)
  }
  return { schema: { type: 'object', properties, required, additionalProperties: false }, encoding }
}

/** In Swagger 2, the keywords of the schema are beside the name of the parameter. */
function toSchema({ name, in: place, required, description, collectionFormat, ...schema }: JsonObject): JsonObject {
  return isRecord(schema.schema) && schema.type === undefined ? schema.schema : schema
}

function toStyle(format: unknown, place: unknown): JsonObject {
  const csv = { style: place === 'query' ? 'form' : 'simple', explode: false }
  switch (format) {
    case 'multi':
      return { style: 'form', explode: true }
    case 'ssv':
      return { style: 'spaceDelimited', explode: false }
    case 'pipes':
      return { style: 'pipeDelimited', explode: false }
    case undefined:
    case 'csv':
      return csv
    default:
      throw new DocumentProblem(
        `the collectionFormat ${typeof format === 'string' ? quote(format) : ''} of a parameter is not supported`,
      )
  }
}

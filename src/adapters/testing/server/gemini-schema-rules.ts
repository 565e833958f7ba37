// The subset of JSON Schema that Gemini documents. Gemini rejects some of the other keywords and ignores the rest. Here all
// of them are rejected, so that no constraint is lost unnoticed.
import { isRecord } from '../../../core/base/json.ts'

const KNOWN = new Set([
  '$anchor',
  '$defs',
  '$id',
  '$ref',
  'additionalProperties',
  'anyOf',
  'description',
  'enum',
  'format',
  'items',
  'maxItems',
  'maximum',
  'minItems',
  'minimum',
  'oneOf',
  'prefixItems',
  'properties',
  'propertyOrdering',
  'required',
  'title',
  'type',
])
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const FORMATS = ['date-time', 'date', 'time']

/** The first problem of a schema. */
export function schemaProblem(schema: unknown, where: string, root: unknown = schema): string | undefined {
  if (schema === undefined) return undefined
  if (!isRecord(schema)) return `${where}: a schema must be an object.`
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword))
  if (unknown) return `Invalid JSON payload received. Unknown name "${unknown}" at '${where}': Cannot find field.`
  const { type, format, enum: values, $ref } = schema
  if ($ref !== undefined) return referenceProblem(schema, where, root)
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.some((one) => !TYPES.includes(one))) return `${where}.type: unknown type ${JSON.stringify(type)}.`
  if (types.filter((one) => one !== 'null').length > 1)
    return `${where}.type: only one type is allowed, or one type and null.`
  if (format !== undefined && types.includes('string') && !FORMATS.includes(String(format))) {
    return `${where}.format: only 'date-time', 'date' and 'time' are supported for STRING type.`
  }
  if (Array.isArray(values) && values.some((value) => typeof value !== 'string' && typeof value !== 'number')) {
    return `${where}.enum: only strings and numbers are allowed.`
  }
  if (schema.anyOf && Object.keys(schema).some((keyword) => !['anyOf', 'description', '$defs'].includes(keyword))) {
    return `${where}: schema specified other fields alongside any_of. When using any_of, it must be the only field set.`
  }
  const lost = Array.isArray(schema.required) && schema.required.find((name) => !hasProperty(schema.properties, name))
  if (lost) return `${where}.required: property "${lost}" is not defined.`
  return innerProblem(schema, where, root)
}

const hasProperty = (properties: unknown, name: unknown): boolean =>
  isRecord(properties) && Object.hasOwn(properties, String(name))

function referenceProblem(schema: { [key: string]: unknown }, where: string, root: unknown): string | undefined {
  const beside = Object.keys(schema).find((keyword) => !keyword.startsWith('$') && keyword !== 'description')
  if (beside) return `${where}: $ref was set alongside unsupported fields.`
  const name = /^#\/\$defs\/([^/]+)$/.exec(String(schema.$ref))?.[1]
  const known = isRecord(root) && isRecord(root.$defs) && name !== undefined && Object.hasOwn(root.$defs, name)
  return known ? undefined : `reference to undefined schema at ${where}`
}

function innerProblem(schema: { [key: string]: unknown }, where: string, root: unknown): string | undefined {
  const inner: (readonly [string, unknown])[] = [['items', schema.items]]
  if (isRecord(schema.additionalProperties)) inner.push(['additionalProperties', schema.additionalProperties])
  for (const keyword of ['properties', '$defs']) {
    const map = schema[keyword]
    if (isRecord(map)) for (const name of Object.keys(map)) inner.push([`${keyword}[${name}]`, map[name] ?? null])
  }
  for (const keyword of ['anyOf', 'oneOf', 'prefixItems']) {
    const list = schema[keyword]
    if (Array.isArray(list)) for (const [at, one] of list.entries()) inner.push([`${keyword}[${at}]`, one])
  }
  for (const [name, one] of inner) {
    const problem = schemaProblem(one, `${where}.${name}`, root)
    if (problem) return problem
  }
  return undefined
}

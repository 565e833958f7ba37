import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import type { ApiParameter } from '../operation.ts'
import { type ApiDocument, DocumentProblem, quote } from './api-document.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_PARAMETERS } from './limits.ts'
import { Once } from './once.ts'
import { followReferences } from './references.ts'
import type { Fragment } from './schema/fragment.ts'
import type { SchemaConverter } from './schema/schema-converter.ts'
import { toParameter } from './swagger/swagger-parameters.ts'

/** A parameter before its argument has a name. */
export type ReadParameter = Omit<ApiParameter, 'argument'> & {
  /** The schema of the argument. */
  readonly fragment: Fragment
}

/** The parameters of a path and its operation as written, references followed. The operation wins by place and name. */
export function collectParameters(document: ApiDocument, ...lists: readonly unknown[]): JsonObject[] {
  const found = new Map<string, JsonObject>()
  for (const list of lists) {
    if (list === undefined || list === null) continue
    if (!Array.isArray(list)) throw new DocumentProblem('"parameters" must be a list')
    if (list.length > MAX_PARAMETERS) throw new DocumentProblem(`it has more than ${MAX_PARAMETERS} parameters`)
    for (const item of list) {
      const parameter = followReferences(document, item, 'a parameter')
      const { in: place, name } = parameter
      if (typeof place !== 'string') throw new DocumentProblem('a parameter has no "in"')
      if (typeof name !== 'string') throw new DocumentProblem('a parameter has no "name"')
      // The names of headers ignore case.
      found.set(`${place} ${place === 'header' ? name.toLowerCase() : name}`, parameter)
    }
  }
  return [...found.values()]
}

/** Converts parameters to the form of `ApiOperation`. Each parameter of the document is converted once. */
export class ParameterReader {
  readonly #converter: SchemaConverter
  readonly #read = new Once<JsonObject, ReadParameter | undefined>()

  constructor(converter: SchemaConverter) {
    this.#converter = converter
  }

  /** The parameters that can be sent. The others are noted. Throws `DocumentProblem`. */
  read(parameters: readonly JsonObject[], { path, label }: { path: string; label: string }): ReadParameter[] {
    const { notes } = this.#converter.document
    const inPath = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name))
    const sent = parameters.flatMap((one) => this.#read.get(one, () => this.#readOne(one, label)) ?? [])
    const usable = sent.filter((parameter) => {
      if (parameter.in !== 'path' || inPath.delete(parameter.name)) return true
      notes.add(label, `: the path parameter ${quote(parameter.name)} is left out: the path does not contain it.`)
      return false
    })
    for (const name of inPath) {
      notes.add(label, `: the path parameter ${quote(name ?? '')} is not described. It is taken as a text.`)
      usable.push(this.#toReadParameter({ name, in: 'path', schema: { type: 'string' } }, label))
    }
    return usable
  }

  #readOne(parameter: JsonObject, label: string): ReadParameter | undefined {
    const problem = findParameterProblem(parameter)
    if (problem) {
      this.#converter.document.notes.add(label, `: ${problem}.`)
      return undefined
    }
    const isSwagger = this.#converter.document.version === '2.0'
    return this.#toReadParameter(isSwagger ? toParameter(parameter) : parameter, label)
  }

  #toReadParameter(parameter: JsonObject, label: string): ReadParameter {
    const { document } = this.#converter
    const name = String(parameter.name)
    const place = parameter.in as ApiParameter['in']
    const media = readContent(parameter.content)
    const schema = media
      ? followReferences(document, media.value, 'the content of a parameter').schema
      : parameter.schema
    const style = readStyle(parameter.style, place)
    const fragment = this.#converter.convert(schema ?? {}, 'request', `${label}, parameter ${quote(name)}`)
    return {
      name,
      in: place,
      isRequired: parameter.required === true || place === 'path',
      style,
      explode: typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form',
      allowReserved: parameter.allowReserved === true && place === 'query',
      contentType: media?.type,
      fragment: { ...fragment, schema: describe(fragment.schema, parameter.description) },
    }
  }
}

const STYLES = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  querystring: ['form'],
  header: ['simple'],
  cookie: ['form'],
} as const satisfies { [place in ApiParameter['in']]: readonly ApiParameter['style'][] }

/** Ignored by the specification, or set by the HTTP client. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Why a parameter is left out, for a note. Throws `DocumentProblem` for a place that does not exist. */
function findParameterProblem({ in: place, name }: JsonObject): string | undefined {
  const text = String(name)
  if (!Object.hasOwn(STYLES, String(place)))
    throw new DocumentProblem(`the parameter ${quote(text)} is in ${quote(String(place))}, which is not supported`)
  if (place === 'header' && RESERVED_HEADERS.has(text.toLowerCase()))
    return `the header parameter ${quote(text)} is left out: the toolset or the HTTP client sets this header`
  if ((place === 'header' || place === 'cookie') && !TOKEN.test(text))
    return `the ${place} parameter ${quote(text)} is left out: its name is not valid`
  return undefined
}

function readContent(content: unknown): { type: string; value: unknown } | undefined {
  const type = isRecord(content) ? Object.keys(content)[0] : undefined
  return isRecord(content) && type !== undefined ? { type, value: content[type] } : undefined
}

/** OpenAPI 3.2 has the style `cookie`, which is sent like `form`. */
function readStyle(style: unknown, place: ApiParameter['in']): ApiParameter['style'] {
  const styles: readonly ApiParameter['style'][] = STYLES[place]
  return styles.find((one) => one === style) ?? styles[0] ?? 'form'
}

/** Adds the description of a parameter or body to its schema. */
export function describe(schema: JsonObject | boolean, description: unknown): JsonObject {
  const plain = typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema
  if (typeof description !== 'string' || description === '' || description === plain.description) return plain
  const own = typeof plain.description === 'string' ? `${description} ${plain.description}` : description
  return { ...plain, description: clip(own, MAX_DESCRIPTION_LENGTH) }
}

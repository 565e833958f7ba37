import { type JsonObject, setOwn } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import type { ApiOperation, ServerTemplate } from '../operation.ts'
import type { ApiDocument } from './api-document.ts'
import { chooseArgumentNames } from './argument-names.ts'
import type { FoundOperation } from './find-operations.ts'
import type { FlatBody } from './flat-body.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_SCHEMA_BYTES } from './limits.ts'
import { Once } from './once.ts'
import { collectParameters, ParameterReader, type ReadParameter } from './parameters.ts'
import { BodyReader, type ReadBody } from './request-body.ts'
import { ResponseReader } from './response-schema.ts'
import { SchemaAssembler } from './schema/assemble-schema.ts'
import { SchemaConverter } from './schema/schema-converter.ts'
import { readSecurity } from './security.ts'
import { isFilledList, readServers } from './servers.ts'
import { splitPath } from './split-path.ts'
import { toRequestBody } from './swagger/swagger-parameters.ts'
import { swaggerServers } from './swagger/swagger-servers.ts'

/** Turns the operations of one document into the form that requests are built from. */
export class OperationReader {
  readonly #document: ApiDocument
  readonly #assembler = new SchemaAssembler()
  readonly #parameters: ParameterReader
  readonly #bodies: BodyReader
  readonly #responses: ResponseReader
  readonly #servers = new Once<unknown, readonly ServerTemplate[]>()
  readonly #security = new Once<unknown, ApiOperation['security']>()

  constructor(document: ApiDocument) {
    this.#document = document
    const converter = new SchemaConverter(document)
    this.#parameters = new ParameterReader(converter)
    this.#bodies = new BodyReader(converter)
    this.#responses = new ResponseReader(converter, this.#assembler)
  }

  /** Reads an operation. Throws `DocumentProblem` if it cannot be used. */
  read(found: FoundOperation, name: string): ApiOperation {
    const { method, pathItem, operation } = found
    const label = clip(`${method} ${found.path}`, 100)
    const { path, parameters } = splitPath(found.path)
    const collected = collectParameters(this.#document, parameters, pathItem.parameters, operation.parameters)
    const isInBody = ({ in: place }: JsonObject): boolean =>
      this.#document.version === '2.0' && (place === 'body' || place === 'formData')
    const others = collected.filter((parameter) => !isInBody(parameter))
    const read = this.#parameters.read(others, { path, label })
    const body = this.#bodies.read(this.#requestBody(operation, collected.filter(isInBody)), label)
    const flat = body?.flat && !collides(body.flat, read) ? body.flat : undefined
    const names = chooseArgumentNames(read, { hasBody: body !== undefined && !flat })
    const toArgument = (parameter: ReadParameter): string => names.get(parameter) ?? parameter.name
    return {
      name,
      method,
      path,
      description: describeOperation(found),
      isDeprecated: operation.deprecated === true,
      parameters: read.map(({ fragment: _, ...parameter }, i) => ({
        argument: toArgument(read[i] as ReadParameter),
        ...parameter,
      })),
      body: body && { ...body.body, fields: flat && Object.keys(flat.properties) },
      servers: this.#readServers(pathItem, operation),
      security: this.#readSecurity(operation),
      argumentsSchema: this.#toArgumentsSchema(
        label,
        new Map(read.map((one) => [toArgument(one), one])),
        flat ?? toWhole(body),
      ),
      responseSchema: this.#responses.read(operation, label),
    }
  }

  #readServers(pathItem: JsonObject, operation: JsonObject): readonly ServerTemplate[] {
    if (this.#document.version === '2.0') return swaggerServers(this.#document.root, operation)
    const servers = [operation.servers, pathItem.servers, this.#document.root.servers].find(isFilledList)
    return this.#servers.get(servers, () => readServers(servers ?? [], this.#document.notes))
  }

  #readSecurity(operation: JsonObject): ApiOperation['security'] {
    const alternatives = operation.security ?? this.#document.root.security ?? []
    return this.#security.get(alternatives, () => readSecurity(alternatives))
  }

  #requestBody(operation: JsonObject, parameters: readonly JsonObject[]): unknown {
    if (this.#document.version !== '2.0') return operation.requestBody
    return toRequestBody(parameters, operation.consumes ?? this.#document.root.consumes)
  }

  #toArgumentsSchema(
    label: string,
    parameters: ReadonlyMap<string, ReadParameter>,
    body: FlatBody | undefined,
  ): JsonObject {
    const properties: JsonObject = {}
    const required: string[] = []
    for (const [argument, { fragment, isRequired }] of parameters) {
      setOwn(properties, argument, fragment.schema)
      if (isRequired) required.push(argument)
    }
    for (const [argument, schema] of Object.entries(body?.properties ?? {})) setOwn(properties, argument, schema)
    required.push(...(body?.required ?? []))
    const fragments = [...parameters.values()].map(({ fragment }) => fragment)
    const { schema, isCut } = this.#assembler.assemble(
      {
        type: 'object',
        ...(body?.description !== undefined && { description: body.description }),
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      },
      body ? [...fragments, body.fragment] : fragments,
    )
    if (isCut)
      this.#document.notes.add(
        label,
        `: the schema of the arguments is cut to ${MAX_SCHEMA_BYTES} bytes. Parts of the schema that are left out accept every value.`,
      )
    return schema
  }
}

/** Does a field have the name of a parameter, or of its argument? */
function collides({ properties }: FlatBody, parameters: readonly ReadParameter[]): boolean {
  const names = [...chooseArgumentNames(parameters, { hasBody: false }).values(), ...parameters.map(({ name }) => name)]
  return names.some((name) => Object.hasOwn(properties, name))
}

/** The body as one argument. */
function toWhole(read: ReadBody | undefined): FlatBody | undefined {
  if (!read) return undefined
  const { body, fragment } = read
  const required = body.isRequired ? ['body'] : []
  return { properties: { body: fragment.schema }, required, description: undefined, fragment }
}

/** Summary and description. An operation without them is described by its method and path. */
function describeOperation({ method, path, pathItem, operation }: FoundOperation): string {
  const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
  const own = [operation.summary, operation.description].filter(isText)
  const texts = own.length > 0 ? own : [pathItem.summary, pathItem.description].filter(isText)
  const [first = `${method} ${path}`, second = ''] = texts.map((text) => text.trim())
  const isRepeated = second === '' || second.startsWith(first)
  return clip(isRepeated ? second || first : `${first}\n\n${second}`, MAX_DESCRIPTION_LENGTH)
}

import { type JsonObject, setOwn } from '../../base/json.ts'
import { clip } from '../../base/limits.ts'
import type { Operation, ServerTemplate } from '../operation.ts'
import type { ApiDocument } from './api-document.ts'
import { chooseArgumentNames } from './argument-names.ts'
import type { FoundOperation } from './find-operations.ts'
import { MAX_DESCRIPTION_LENGTH } from './limits.ts'
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
  readonly #security = new Once<unknown, Operation['security']>()

  constructor(document: ApiDocument) {
    this.#document = document
    const converter = new SchemaConverter(document)
    this.#parameters = new ParameterReader(converter)
    this.#bodies = new BodyReader(converter)
    this.#responses = new ResponseReader(converter, this.#assembler)
  }

  /** Reads an operation. Throws `DocumentProblem` if it cannot be used. */
  read(found: FoundOperation, name: string): Operation {
    const { method, pathItem, operation } = found
    const label = clip(`${method} ${found.path}`, 100)
    const { path, parameters } = splitPath(found.path)
    const collected = collectParameters(this.#document, parameters, pathItem.parameters, operation.parameters)
    const isInBody = ({ in: place }: JsonObject): boolean =>
      this.#document.version === '2.0' && (place === 'body' || place === 'formData')
    const others = collected.filter((parameter) => !isInBody(parameter))
    const read = this.#parameters.read(others, { path, label })
    const body = this.#bodies.read(this.#requestBody(operation, collected.filter(isInBody)), label)
    const names = chooseArgumentNames(read, body !== undefined)
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
      body: body?.body,
      servers: this.#readServers(pathItem, operation),
      security: this.#readSecurity(operation),
      argumentsSchema: this.#toArgumentsSchema(new Map(read.map((one) => [toArgument(one), one])), body),
      responseSchema: this.#responses.read(operation, label),
    }
  }

  #readServers(pathItem: JsonObject, operation: JsonObject): readonly ServerTemplate[] {
    if (this.#document.version === '2.0') return swaggerServers(this.#document.root, operation)
    const servers = [operation.servers, pathItem.servers, this.#document.root.servers].find(isFilledList)
    return this.#servers.get(servers, () => readServers(servers ?? [], this.#document.notes))
  }

  #readSecurity(operation: JsonObject): Operation['security'] {
    const alternatives = operation.security ?? this.#document.root.security ?? []
    return this.#security.get(alternatives, () => readSecurity(alternatives))
  }

  #requestBody(operation: JsonObject, parameters: readonly JsonObject[]): unknown {
    if (this.#document.version !== '2.0') return operation.requestBody
    return toRequestBody(parameters, operation.consumes ?? this.#document.root.consumes)
  }

  #toArgumentsSchema(parameters: ReadonlyMap<string, ReadParameter>, body: ReadBody | undefined): JsonObject {
    const properties: JsonObject = {}
    const required: string[] = []
    for (const [argument, { fragment, isRequired }] of parameters) {
      setOwn(properties, argument, fragment.schema)
      if (isRequired) required.push(argument)
    }
    if (body) properties.body = body.fragment.schema
    if (body?.body.isRequired) required.push('body')
    const fragments = [...parameters.values()].map(({ fragment }) => fragment)
    return this.#assembler.assemble(
      { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
      body ? [...fragments, body.fragment] : fragments,
    )
  }
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

import { type JsonObject, setOwn } from '../../base/json.ts'
import { clip } from '../../base/limits.ts'
import type { Operation } from '../operation.ts'
import type { ApiDocument } from './api-document.ts'
import { chooseArgumentNames } from './argument-names.ts'
import type { FoundOperation } from './find-operations.ts'
import { MAX_DESCRIPTION_LENGTH } from './limits.ts'
import { collectParameters, ParameterReader, type ReadParameter } from './parameters.ts'
import { BodyReader, type ReadBody } from './request-body.ts'
import { ResponseReader } from './response-schema.ts'
import { assembleSchema, type DefinitionBudget } from './schema/assemble-schema.ts'
import { SchemaConverter } from './schema/schema-converter.ts'
import { readSecurity } from './security.ts'
import { readServers } from './servers.ts'
import { splitPath } from './split-path.ts'
import { toRequestBody } from './swagger/swagger-parameters.ts'

/** Turns the operations of one document into the form that requests are built from. */
export class OperationReader {
  readonly #document: ApiDocument
  readonly #budget: DefinitionBudget = { listed: 0 }
  readonly #parameters: ParameterReader
  readonly #bodies: BodyReader
  readonly #responses: ResponseReader

  constructor(document: ApiDocument) {
    this.#document = document
    const converter = new SchemaConverter(document)
    this.#parameters = new ParameterReader(converter)
    this.#bodies = new BodyReader(converter)
    this.#responses = new ResponseReader(converter, this.#budget)
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
      servers: readServers(this.#document, pathItem, operation),
      security: readSecurity(this.#document, operation),
      argumentsSchema: this.#toArgumentsSchema(new Map(read.map((one) => [toArgument(one), one])), body),
      responseSchema: this.#responses.read(operation, label),
    }
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
    return assembleSchema(
      { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
      body ? [...fragments, body.fragment] : fragments,
      this.#budget,
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

// A stand-in until the reader of documents is merged: it reads simple OpenAPI 3.1 objects only.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { Operation, Parameter, PropertyEncoding, RequestBody } from '../operation.ts'

/** A document that is read. */
export interface LoadedDocument {
  /** The title of the API. */
  readonly title: string
  /** The operations. */
  readonly operations: readonly Operation[]
  /** The security schemes, by name. */
  readonly securitySchemes: ReadonlyMap<string, JsonObject>
  /** What the document does wrong, for the operator. */
  readonly problems: readonly string[]
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** Reads a document. */
export async function loadDocument(spec: unknown): Promise<LoadedDocument> {
  const document: JsonObject = typeof spec === 'string' ? JSON.parse(spec) : (spec as JsonObject)
  if (!isRecord(document) || !isRecord(document.paths)) throw new Error('The document has no paths.')
  const operations: Operation[] = []
  for (const [path, item] of Object.entries(document.paths as { [path: string]: JsonObject })) {
    for (const method of METHODS) {
      const one = item[method] as JsonObject | undefined
      if (one) operations.push(operationOf(document, path, method, item, one))
    }
  }
  const components = (document.components ?? {}) as JsonObject
  const schemes = (components.securitySchemes ?? {}) as { [name: string]: JsonObject }
  const title = String((document.info as JsonObject | undefined)?.title ?? 'API')
  return { title, operations, securitySchemes: new Map(Object.entries(schemes)), problems: [] }
}

function operationOf(document: JsonObject, path: string, method: string, item: JsonObject, one: JsonObject): Operation {
  const raw = [...((item.parameters as JsonObject[]) ?? []), ...((one.parameters as JsonObject[]) ?? [])]
  const parameters = raw.map(parameterOf)
  const body = bodyOf(one.requestBody as JsonObject | undefined)
  const properties: JsonObject = {}
  for (const [at, parameter] of parameters.entries()) properties[parameter.argument] = schemaOf(raw[at] as JsonObject)
  const content = Object.values(((one.requestBody as JsonObject)?.content ?? {}) as JsonObject)[0] as JsonObject
  if (body) properties.body = content?.schema ?? {}
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument)
  if (body?.isRequired) required.push('body')
  const servers = (one.servers ?? item.servers ?? document.servers ?? []) as JsonObject[]
  const security = (one.security ?? document.security ?? []) as { [scheme: string]: string[] }[]
  return {
    name: String(one.operationId ?? `${method}_${path.replace(/\W+/g, '_')}`),
    method: method.toUpperCase(),
    path,
    description: String(one.description ?? one.summary ?? ''),
    isDeprecated: one.deprecated === true,
    parameters,
    body,
    servers: servers.map(({ url, variables }) => ({
      url: String(url),
      variables: new Map(Object.entries((variables ?? {}) as { [name: string]: { default: string; enum: string[] } })),
    })),
    security: security.map((all) => Object.entries(all).map(([scheme, scopes]) => ({ scheme, scopes }))),
    argumentsSchema: { type: 'object', properties, required },
    responseSchema: undefined,
  }
}

function schemaOf(parameter: JsonObject): unknown {
  const content = Object.values((parameter.content ?? {}) as JsonObject)[0] as JsonObject | undefined
  return parameter.schema ?? content?.schema ?? {}
}

function parameterOf(raw: JsonObject): Parameter {
  const where = raw.in as Parameter['in']
  const style = (raw.style ?? (where === 'query' || where === 'cookie' ? 'form' : 'simple')) as Parameter['style']
  return {
    argument: String(raw.name),
    name: String(raw.name),
    in: where,
    isRequired: raw.required === true,
    style,
    explode: (raw.explode as boolean | undefined) ?? style === 'form',
    allowReserved: raw.allowReserved === true,
    contentType: raw.content === undefined ? undefined : Object.keys(raw.content as object)[0],
  }
}

function bodyOf(raw: JsonObject | undefined): RequestBody | undefined {
  const [type, media] = Object.entries((raw?.content ?? {}) as { [type: string]: JsonObject })[0] ?? []
  if (type === undefined) return undefined
  const kind = /json/.test(type)
    ? 'json'
    : /urlencoded/.test(type)
      ? 'form'
      : /multipart/.test(type)
        ? 'multipart'
        : /^text/.test(type)
          ? 'text'
          : 'binary'
  const properties = ((media?.schema as JsonObject)?.properties ?? {}) as { [name: string]: JsonObject }
  const files = Object.keys(properties).filter((name) => properties[name]?.format === 'binary')
  const encoding = Object.entries((media?.encoding ?? {}) as { [name: string]: JsonObject })
  return {
    isRequired: raw?.required === true,
    contentType: type,
    kind,
    encoding: new Map(
      encoding.map(([name, one]): [string, PropertyEncoding] => [
        name,
        {
          contentType: one.contentType as string | undefined,
          style: one.style as Parameter['style'] | undefined,
          explode: (one.explode as boolean | undefined) ?? true,
          allowReserved: one.allowReserved === true,
        },
      ]),
    ),
    fileProperties: new Set(files),
  }
}

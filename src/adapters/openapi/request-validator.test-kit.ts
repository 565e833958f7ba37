// For tests only: checks a request against a document with openapi-backend, another implementation of OpenAPI.
import { OpenAPIBackend, type Request as ReceivedRequest } from 'openapi-backend'
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { dereference, resolve } from './dereference.test-kit.ts'
import type { Place } from './document/real-documents.test-kit.ts'
import type { ApiRequest } from './request/build-request.ts'

/** Why a request is not valid for this place of the document. Empty if it is valid. */
export async function findRequestProblems(document: JsonObject, place: Place, request: ApiRequest): Promise<string[]> {
  const { path, operation } = prepareOperation(document, place)
  const { content = {}, required } = recordOf(operation.requestBody)
  const contentType = request.headers.get('content-type') ?? ''
  const offered = findOffered(Object.keys(recordOf(content)), contentType)
  if (request.body !== undefined && offered === undefined) return [`the document does not offer ${contentType}`]
  if (request.body === undefined && required === true) return ['the body is missing']
  const isForm = /form-data|urlencoded/.test(contentType)
  const hasSchema = offered !== undefined && (isForm || /json/.test(contentType))
  // It looks at one media type, so the one that was sent takes the place of JSON.
  const requestBody = hasSchema ? { content: { 'application/json': recordOf(content)[offered] } } : undefined
  const { openapi, info } = document
  const paths = { ...routesOf(document, path), [path]: { [place.method.toLowerCase()]: { ...operation, requestBody } } }
  const api: OpenAPIBackend = new OpenAPIBackend({
    definition: { openapi, info, servers: [{ url: '/' }], paths } as never,
    ...{ coerceTypes: true, validate: true, quick: true, ignoreTrailingSlashes: false },
    // The values of a form are texts.
    ajvOpts: { strict: false, logger: false, coerceTypes: isForm ? 'array' : false },
  })
  await api.init()
  const received = await receivedOf(request, hasSchema, api)
  const matched = api.matchOperation(received)?.operationId
  if (matched !== operation.operationId) return [`the request leads to ${matched ?? 'no operation'}`]
  const { errors } = api.validateRequest(received, String(operation.operationId))
  return (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** The operation in the form that openapi-backend takes. Each difference from the document has its reason beside it. */
function prepareOperation(document: JsonObject, { method, path: given }: Place) {
  const item = recordOf(recordOf(document.paths)[given])
  const written = recordOf(item[method.toLowerCase()])
  const [withoutFragment = ''] = given.split('#')
  const [path = '', query = ''] = withoutFragment.split('?')
  const listed = [written.parameters ?? [], item.parameters ?? []].flat().map((one) => resolve(document, one))
  // OpenAPI ignores parameters with these names. openapi-backend demands them.
  const sent = listed.filter(
    (one) => isRecord(one) && !(one.in === 'header' && /^(accept|content-type|authorization)$/i.test(String(one.name))),
  )
  // A path must not have a query. Where a document writes one, its members are parameters.
  const inPath = [...new URLSearchParams(query)].map(([name, value]) => ({
    ...{ name, in: 'query', required: value !== '' },
    schema: value === '' || /\{/.test(value) ? { type: 'string' } : { const: value },
  }))
  const { parameters, requestBody } = recordOf(
    dereference(document, { parameters: [...inPath, ...sent], requestBody: written.requestBody }),
  )
  // It demands an operationId.
  const operation: JsonObject = { operationId: `${method} ${given}`, parameters, requestBody, responses: {} }
  return { path, operation }
}

/** The other paths of the document: the request must not lead there. Paths that differ in a name only are the same path. */
function routesOf({ paths }: JsonObject, own: string): JsonObject {
  const shapeOf = (path: string): string => path.replace(/\{[^{}]*\}/g, '{}')
  const isOther = (path: string): boolean => shapeOf(path) !== shapeOf(own) && !/[?#]/.test(path)
  const others = Object.entries(recordOf(paths)).filter(([path]) => isOther(path))
  const routes = others.map(([path, item]) => {
    const methods = Object.keys(recordOf(item)).filter((key) => /^(get|put|post|delete|patch|head)$/.test(key))
    return [path, Object.fromEntries(methods.map((key) => [key, { operationId: `${key} ${path}`, responses: {} }]))]
  })
  return Object.fromEntries(routes)
}

/** The media type of the document that covers the one that was sent. */
function findOffered(mediaTypes: readonly string[], sent: string): string | undefined {
  const essence = (text: string): string => (text.split(';', 1)[0] ?? '').trim().toLowerCase()
  const [type] = essence(sent).split('/')
  const wanted = [essence(sent), `${type}/*`, '*/*']
  return wanted.flatMap((one) => mediaTypes.find((offered) => essence(offered) === one) ?? [])[0]
}

async function receivedOf(request: ApiRequest, hasSchema: boolean, api: OpenAPIBackend): Promise<ReceivedRequest> {
  const { method, url, headers, body } = request
  const { pathname, search } = new URL(url)
  // The HTTP client adds the length.
  const all = { ...Object.fromEntries(headers), ...(body && { 'content-length': String(body.length) }) }
  const received = { method, path: `${pathname}${search}`, headers: all }
  if (body === undefined || !hasSchema) return received
  return { ...received, body: (await parseBody(request, body, api)) as ReceivedRequest['body'] }
}

/** Forms are parsed before openapi-backend gets them, as web frameworks do. */
async function parseBody({ headers }: ApiRequest, body: Uint8Array<ArrayBuffer>, api: OpenAPIBackend) {
  const contentType = headers.get('content-type') ?? ''
  const text = new TextDecoder().decode(body)
  if (/urlencoded/.test(contentType))
    return api.router.parseRequestQuery({ method: 'POST', path: `/?${text}`, headers: {} })
  if (!/form-data/.test(contentType)) return text
  const form = await new Response(body, { headers: { 'content-type': contentType } }).formData()
  const members = new Map<string, unknown[]>()
  for (const [name, value] of form) {
    const part = typeof value === 'string' ? value : await value.text()
    // By default, objects are JSON.
    members.set(name, [...(members.get(name) ?? []), part.startsWith('{') ? JSON.parse(part) : part])
  }
  return Object.fromEntries([...members].map(([name, values]) => [name, values.length > 1 ? values : values[0]]))
}

function recordOf(value: unknown): JsonObject {
  return isRecord(value) ? value : {}
}

import type { JsonObject } from '../../../core/base/json.ts'
import { VERSION } from '../version.ts'
import type { ApiOperation } from './api-operation.ts'
import { OPERATIONS } from './operations.ts'
import { ref, SCHEMAS } from './schemas.ts'

/** The OpenAPI 3.1 description of the API, without the routes for developers. */
export function openApiDocument(): JsonObject {
  const paths: { [path: string]: JsonObject } = {}
  for (const operation of OPERATIONS) {
    const { path, method } = operation
    const item = paths[path] ?? { parameters: pathParameters(path) }
    item[method] = describe(operation)
    paths[path] = item
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Toolwright', version: VERSION, description: 'Runs agents, with the routes of ADK.' },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: { schemas: SCHEMAS, securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  }
}

function describe({ id, summary, body, isBodyOptional = false, isPublic, ...operation }: ApiOperation): JsonObject {
  const parameters = [...named('query', operation.query), ...named('header', operation.headers)]
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !isBodyOptional, content: { 'application/json': { schema: body } } } }),
    responses: {
      200: answerOf(operation.answer),
      default: { description: 'An error.', content: { 'application/json': { schema: ref('Error') } } },
    },
    ...(isPublic && { security: [] }),
  }
}

function answerOf(answer: ApiOperation['answer']): JsonObject {
  if (typeof answer !== 'string')
    return { description: 'Success.', content: { 'application/json': { schema: answer } } }
  const schema = answer === 'text/plain' ? { type: 'string' } : ref('Event')
  return { description: 'Success.', content: { [answer]: { schema } } }
}

function named(place: 'query' | 'header', parameters: { readonly [name: string]: string } = {}): JsonObject[] {
  return Object.entries(parameters).map(([name, description]) => ({
    name,
    in: place,
    description,
    schema: { type: 'string' },
  }))
}

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['app', 'The name of the app.'],
  ['user', 'The user. It must be one that the client may act as.'],
  ['session', 'The id of the session.'],
  ['request', 'The id of the pending request.'],
  ['name', 'The name of the artifact. Slashes may be encoded as %2F.'],
  ['version', 'A number from 0, or `latest`.'],
])

function pathParameters(path: string): JsonObject[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: DESCRIPTIONS.get(name) ?? '',
    schema: { type: 'string' },
  }))
}

// For tests only: operations in one line.
import type { ApiOperation, ApiParameter, RequestBody } from './operation.ts'

/** An operation. Default: `GET /pets` of http://127.0.0.1. */
export function operationOf(more: Partial<ApiOperation> = {}): ApiOperation {
  return {
    name: 'call',
    method: 'GET',
    path: '/pets',
    description: 'Calls the API',
    isDeprecated: false,
    parameters: [],
    body: undefined,
    servers: [{ url: 'http://127.0.0.1', variables: new Map() }],
    security: [],
    argumentsSchema: { type: 'object' },
    responseSchema: undefined,
    ...more,
  }
}

/** A parameter with the default style of its place. */
export function parameterOf(name: string, place: ApiParameter['in'], more: Partial<ApiParameter> = {}): ApiParameter {
  const style = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  const made = { argument: name, name, in: place, isRequired: place === 'path', style } as const
  return { ...made, explode: style === 'form', allowReserved: false, contentType: undefined, ...more }
}

/** A required body. */
export function bodyOf(kind: RequestBody['kind'], contentType: string, more: Partial<RequestBody> = {}): RequestBody {
  return {
    isRequired: true,
    kind,
    contentType,
    encoding: new Map(),
    fileProperties: new Set(),
    fields: undefined,
    ...more,
  }
}

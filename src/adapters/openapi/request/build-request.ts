import { isRecord } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { ApiOperation } from '../operation.ts'
import { assertTarget } from './assert-target.ts'
import { bodyValue } from './body-value.ts'
import { buildBody } from './build-body.ts'
import { buildHeaders } from './build-headers.ts'
import { buildQuery } from './build-query.ts'
import { checkNames } from './check-names.ts'
import type { LoadFile } from './encoded-body.ts'
import { expandPath } from './expand-path.ts'

/** A request without credentials, which can be sent several times. */
export interface ApiRequest {
  /** The method, in upper case. */
  readonly method: string
  /** The URL. */
  readonly url: string
  /** The headers. */
  readonly headers: Headers
  /** The bytes of the body. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
}

/** Builds the request of an operation from arguments. Throws a `ToolError` with INVALID_ARGS if they cannot be sent. */
export async function buildRequest(
  operation: ApiOperation,
  base: URL,
  args: unknown,
  loadFile: LoadFile,
): Promise<ApiRequest> {
  const values = new Map(Object.entries(isRecord(args) ? args : {}))
  const { url, headers } = buildTarget(operation, base, values)
  const body = operation.body && (await buildBody(operation.body, bodyValue(operation.body, values), loadFile))
  if (body && /^(?:GET|HEAD)$/.test(operation.method))
    throw new ToolError(`A ${operation.method} request cannot have a body. Leave out the arguments of the body.`, {
      code: 'INVALID_ARGS',
    })
  if (body) headers.set('content-type', body.contentType)
  return { method: operation.method, url, headers, body: body?.bytes }
}

/** The URL and the headers of a request. */
export function buildTarget(
  operation: ApiOperation,
  base: URL,
  values: ReadonlyMap<string, unknown>,
): { readonly url: string; readonly headers: Headers } {
  for (const { argument, isRequired } of operation.parameters)
    if (isRequired && values.get(argument) === undefined)
      throw new ToolError(`The argument "${argument}" is missing.`, { code: 'INVALID_ARGS' })
  checkNames(operation, values)
  const query = buildQuery(operation, values)
  const url = `${base.href.replace(/\/$/, '')}${expandPath(operation, values)}${query && `?${query}`}`
  assertTarget(url, base, operation)
  const headers = buildHeaders(operation, values)
  headers.set('accept', 'application/json, */*;q=0.5')
  return { url, headers }
}

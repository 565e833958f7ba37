// What a document declares and a model cannot send: reserved headers, the key that makes a repeated call harmless, and the
// body of a GET request.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { isSafeMethod } from './effect-of.ts'
import type { ApiOperation, ApiParameter } from './operation.ts'
import { isReservedHeader } from './request/build-headers.ts'

/** The header that carries the idempotency key of an operation; undefined if the operation supports none. */
export function idempotencyHeaderOf(operation: ApiOperation, option: string | undefined): string | undefined {
  if (isSafeMethod(operation.method)) return undefined
  return operation.parameters.find((parameter) => isKeyParameter(parameter))?.name ?? option
}

/**
 * The operation without the parameters that the toolset sets itself, and without a body if its method has none. OpenAPI 3.0
 * ignores both reserved headers and the bodies of GET requests.
 */
export function withoutManagedParts(operation: ApiOperation, idempotencyHeader: string | undefined): ApiOperation {
  const isManaged = ({ in: place, name }: ApiParameter): boolean =>
    place === 'header' && (isReservedHeader(name) || name.toLowerCase() === idempotencyHeader?.toLowerCase())
  const hasUnsendableBody = operation.body !== undefined && /^(?:GET|HEAD)$/.test(operation.method)
  const managed = operation.parameters.filter(isManaged).map(({ argument }) => argument)
  if (hasUnsendableBody) managed.push(...(operation.body?.fields ?? ['body']))
  if (managed.length === 0) return operation
  return {
    ...operation,
    body: hasUnsendableBody ? undefined : operation.body,
    parameters: operation.parameters.filter((parameter) => !isManaged(parameter)),
    argumentsSchema: withoutProperties(operation.argumentsSchema, new Set(managed)),
  }
}

function isKeyParameter({ in: place, name }: ApiParameter): boolean {
  return place === 'header' && /^(?:x-)?idempotency-key$/i.test(name)
}

function withoutProperties(schema: JsonObject, names: ReadonlySet<string>): JsonObject {
  const { properties, required } = schema
  return {
    ...schema,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name))),
    }),
    ...(Array.isArray(required) && { required: required.filter((name) => !names.has(name)) }),
  }
}

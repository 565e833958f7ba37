/**
 * Tools from OpenAPI documents.
 *
 * @module
 */

export { ApiRegistry, type OpenApiSpecOptions } from './api-registry.ts'
export { ApiHubToolset, type ApiHubToolsetOptions } from './hub/api-hub-toolset.ts'
export { OpenApiToolset, type OpenApiToolsetOptions } from './openapi-toolset.ts'
export type {
  ApiOperation,
  ApiParameter,
  PropertyEncoding,
  RequestBody,
  SecurityRequirement,
  ServerTemplate,
} from './operation.ts'
export type { ApiResult } from './response/to-result.ts'
export type { AuthOption } from './security/auth-option.ts'
export type { ApiToolsetOptions, ConfirmationOption, HeadersOption } from './toolset-options.ts'

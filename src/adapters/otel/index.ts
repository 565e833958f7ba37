/**
 * Traces and metrics with OpenTelemetry. Needs the package `@opentelemetry/api`.
 *
 * @module
 */

export type { ContentAttribute } from './names.ts'
export { otel } from './otel.ts'
export type { OtelOptions } from './otel-options.ts'

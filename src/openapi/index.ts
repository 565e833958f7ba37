/**
 * Tools from OpenAPI documents.
 *
 * @module
 */

export type { Operation } from './operation.ts'

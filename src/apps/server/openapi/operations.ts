// The operations of the API. A test compares them with the registered routes.
import type { ApiOperation } from './api-operation.ts'
import { ARTIFACT_OPERATIONS } from './artifact-operations.ts'
import { RUN_OPERATIONS } from './run-operations.ts'
import { SERVER_OPERATIONS } from './server-operations.ts'
import { SESSION_OPERATIONS } from './session-operations.ts'

/** All operations of the API, without those for developers. */
export const OPERATIONS: readonly ApiOperation[] = [
  ...SERVER_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...ARTIFACT_OPERATIONS,
  ...RUN_OPERATIONS,
]

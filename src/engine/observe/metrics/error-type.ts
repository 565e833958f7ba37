import type { ResultErrorCode, ToolwrightErrorCode } from '../../../core/error/error.ts'
import type { EventErrorCode } from '../../../core/event/event.ts'
import { OTHER } from './metric-table.ts'

/** The codes of the framework. A tool or a provider may write any text as a code, and that text may be content. */
const CODES: { readonly [code in ResultErrorCode | ToolwrightErrorCode | EventErrorCode]: true } = {
  INVALID_REQUEST: true,
  UNAUTHENTICATED: true,
  FORBIDDEN: true,
  NOT_FOUND: true,
  ALREADY_EXISTS: true,
  ALREADY_ANSWERED: true,
  SESSION_BUSY: true,
  PAUSED: true,
  STALE_APPEND: true,
  LEASE_LOST: true,
  SESSION_GONE: true,
  EXPIRED: true,
  TOO_LARGE: true,
  RATE_LIMITED: true,
  STORAGE: true,
  UNAVAILABLE: true,
  INTERRUPTED: true,
  INTERNAL: true,
  INVALID_CONFIG: true,
  MISSING_PEER: true,
  NEEDS_INFER: true,
  INVALID_ARGS: true,
  TIMEOUT: true,
  CANCELLED: true,
  EXECUTION_FAILED: true,
  AUTH_FAILED: true,
  UNKNOWN_OUTCOME: true,
  DEFINITION_CHANGED: true,
  REPEATED_CALL: true,
  INVALID_RESULT: true,
  MAX_ITERATIONS: true,
  MAX_LLM_CALLS: true,
  MODEL_ERROR: true,
  INVALID_OUTPUT: true,
  AGENT_ERROR: true,
}

/** The code as `error.type`: one of the framework, or `_OTHER`. */
export function errorTypeOf(code: string | undefined): string {
  return code !== undefined && Object.hasOwn(CODES, code) ? code : OTHER
}

// Failed MCP calls, as the model gets them.
import { isRecord } from '../../../core/base/json.ts'
import { messageOf, ToolError } from '../../../core/error/error.ts'
import type { Effect } from '../../../engine/tool/tool.ts'

/** A call that took longer than `callTimeoutMs` without progress. */
export class CallTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`timed out after ${timeoutMs} ms without progress`)
  }
}

/** A call whose HTTP response ended without an answer. */
export class ResponseEnded extends Error {
  /** As the MCP client calls a lost connection. */
  readonly code = 'CONNECTION_CLOSED'
  constructor() {
    super('The response ended without an answer')
  }
}

const INVALID_PARAMS = -32602
const METHOD_NOT_FOUND = -32601

/** Did the connection end before the answer? Then the server may have received the request, or not. */
export function isLostConnection(error: unknown): boolean {
  if (!isRecord(error)) return false
  const { code } = error
  return code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED' || code === 'SEND_FAILED'
}

/** Does the error say that the server has forgotten the session of the connection? Then it has not run the request. */
export function isLostSession(error: unknown): boolean {
  if (!isRecord(error) || isJsonRpcError(error)) return false // the server chooses the data of its own errors
  return error.status === 404 || (isRecord(error.data) && error.data.status === 404)
}

/** The error of a failed call for the model. With an effect that may not be repeated, a lost call has an unknown outcome. */
export function toToolError(error: unknown, tool: string, effect: Effect): ToolError {
  if (error instanceof ToolError) return error
  const mayRepeat = effect === 'none' || effect === 'idempotent'
  if (error instanceof CallTimeout) {
    const problem = `Tool "${tool}" ${error.message}`
    if (mayRepeat) return new ToolError(`${problem}.`, { code: 'TIMEOUT', cause: error })
    return new ToolError(`${problem} and may have taken effect. Check the outcome before you call it again.`, {
      code: 'UNKNOWN_OUTCOME',
      cause: error,
    })
  }
  if (isJsonRpcError(error)) {
    const message = messageOf(error).replace(/^MCP error -?\d+: /, '')
    return new ToolError(message, { code: codeOf(error.code), cause: error })
  }
  const { code, status } = isRecord(error) ? error : {}
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE')
    return new ToolError(`Tool "${tool}" returned a result that is not valid MCP.`, {
      code: 'INVALID_RESULT',
      cause: error,
    })
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ToolError(`The MCP server of tool "${tool}" refused the call with HTTP status ${status}.`, {
      cause: error,
    })
  const problem = `The connection to the MCP server of tool "${tool}" failed (connection_closed)`
  if (mayRepeat) return new ToolError(`${problem}.`, { cause: error })
  return new ToolError(`${problem}. The call may have taken effect. Check the outcome before you call it again.`, {
    code: 'UNKNOWN_OUTCOME',
    cause: error,
  })
}

/** An error that the server itself has answered. */
export function isJsonRpcError(error: unknown): error is { readonly code: number; readonly data?: unknown } {
  return isRecord(error) && typeof error.code === 'number' && !('status' in error)
}

function codeOf(code: number): 'INVALID_ARGS' | 'NOT_FOUND' | 'EXECUTION_FAILED' {
  if (code === INVALID_PARAMS) return 'INVALID_ARGS'
  return code === METHOD_NOT_FOUND ? 'NOT_FOUND' : 'EXECUTION_FAILED'
}

import { type ResultErrorCode, ToolError } from '../../../core/error/error.ts'

/** The error of a failed call, as `ToolDispatcher.call()` throws it. `response`: the error result that a model would get. */
export function toolErrorOf(
  response: { readonly error?: unknown; readonly errorCode?: unknown },
  name: string,
  timeoutMs: number,
): ToolError {
  const code = (response.errorCode ?? 'CANCELLED') as ResultErrorCode // the dispatcher sets no other code
  const detail = String(response.error ?? '')
  return new ToolError(textOf(code, detail, name, timeoutMs), { code })
}

function textOf(code: ResultErrorCode, detail: string, name: string, timeoutMs: number): string {
  switch (code) {
    case 'NOT_FOUND':
      return detail.startsWith('Unknown tool') ? `Tool not found: ${name}` : detail
    case 'INVALID_ARGS':
      return `Invalid arguments: ${detail.replace(`Invalid arguments for ${name}: `, '')}`
    case 'TIMEOUT':
      return `Tool execution timed out after ${timeoutMs < 1_000 ? `${timeoutMs}ms` : `${timeoutMs / 1_000}s`}`
    case 'CANCELLED':
      return detail === '' ? 'Tool cancelled' : `Tool cancelled: ${detail}`
    case 'EXECUTION_FAILED':
      return `Tool execution failed: ${detail}`
    default:
      return detail
  }
}

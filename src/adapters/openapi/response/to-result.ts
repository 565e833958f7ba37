// What the model gets of a response: `{ status, body }`, or a `ToolError` for a status from 400.

import { encodeBase64 } from '../../../core/base/base64.ts'
import { clip } from '../../../core/base/limits.ts'
import type { SecretMask } from '../../../core/base/secret-mask.ts'
import { type ResultErrorCode, ToolError } from '../../../core/error/error.ts'
import type { ToolContext } from '../../../engine/context/context.ts'
import { extensionOf } from '../../../services/artifact/media-name.ts'
import type { ApiOperation } from '../operation.ts'
import { parseContent } from './parse-content.ts'

/** A response whose body is read. */
export interface ApiResponse {
  /** The status. */
  readonly status: number
  /** The header `content-type`. */
  readonly contentType: string | undefined
  /** The decoded bytes of the body. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The milliseconds that the server asks to wait before a retry. */
  readonly retryAfterMs: number | undefined
}

/** The result of an operation. */
export interface ApiResult {
  /** The HTTP status. */
  readonly status: number
  /** JSON as a value, text as a string, null for no content, or the artifact that holds the file. */
  readonly body: unknown
}

/** Turns a response into the result of a tool. Files are saved as artifacts. */
export async function toResult(response: ApiResponse, call: ResultCall): Promise<ApiResult> {
  const { status, contentType, bytes } = response
  const content = parseContent(bytes, contentType)
  if (content.kind === 'value') return { status, body: call.mask.value(content.value) }
  return { status, body: await saveFile(bytes, call.mask.text(content.mimeType), call) }
}

/** What a result depends on besides the response. */
interface ResultCall {
  /** The operation. */
  readonly operation: ApiOperation
  /** The context of the call. */
  readonly context: ToolContext
  /** Hides the secrets of the request. */
  readonly mask: SecretMask
}

async function saveFile(bytes: Uint8Array<ArrayBuffer>, mimeType: string, call: ResultCall): Promise<unknown> {
  const { context, operation, mask } = call
  const size = { mimeType, bytes: bytes.length }
  if (!context.invocation.services.artifacts)
    return { ...size, note: 'The file was dropped, because the runner has no artifactService to save it.' }
  if (mask.isIn(bytes)) return { ...size, note: 'The file was dropped, because it contains the secret of the request.' }
  const filename = `${operation.name}.${extensionOf(mimeType)}`
  const version = await context.saveArtifact(filename, { inlineData: { mimeType, data: encodeBase64(bytes) } })
  return { artifact: { filename, version, ...size } }
}

const MAX_EXCERPT = 2_000

/** The error for a response with a status from 400. `isHarmless`: may the model call the operation again? */
export function errorOf(response: ApiResponse, call: ResultCall, isHarmless: boolean): ToolError {
  const { status, retryAfterMs } = response
  const excerpt = excerptOf(response, call.mask)
  const wait = retryAfterMs ? ` Try again after ${Math.ceil(retryAfterMs / 1_000)} s.` : ''
  if (!isHarmless && LOST_BEHIND_GATEWAY.has(status))
    return new ToolError(
      `A gateway of the API answered with status ${status}, so the outcome is unknown: the operation may have taken effect. Check before you call it again.${excerpt}`,
      { code: 'UNKNOWN_OUTCOME' },
    )
  return new ToolError(`The API answered with status ${status}.${wait}${excerpt}`, { code: codeOf(status) })
}

/** A gateway sends these when it lost the server, which may have finished the request. */
const LOST_BEHIND_GATEWAY = new Set([502, 504])

function codeOf(status: number): ResultErrorCode {
  if (status === 400 || status === 422) return 'INVALID_ARGS'
  if (status === 401 || status === 403) return 'AUTH_FAILED'
  return status === 404 || status === 410 ? 'NOT_FOUND' : 'EXECUTION_FAILED'
}

function excerptOf({ bytes, contentType }: ApiResponse, mask: SecretMask): string {
  const content = parseContent(bytes, contentType)
  if (content.kind === 'bytes' || content.value === null) return ''
  const { value } = content
  const text = typeof value === 'string' ? mask.text(value) : JSON.stringify(mask.value(value))
  const shown = text.replace(/\s+/g, ' ').trim()
  return shown === '' ? '' : ` Its response: ${clip(shown, MAX_EXCERPT)}`
}

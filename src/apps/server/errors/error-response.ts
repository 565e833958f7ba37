import { ToolwrightError } from '../../../core/error/error.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import { encodeFrame } from '../stream/encode-frame.ts'
import { describeError } from './error-body.ts'

/** The response for an error, as JSON, or as one frame for a client that accepts an event stream. */
export function errorResponse(thrown: unknown, context: RequestContext, { logger }: ServerParts): Response {
  const { status, body } = describeError(thrown, context.get('correlationId'), logger)
  const headers = new Headers({ 'cache-control': 'no-store' })
  if (status === 401) headers.set('www-authenticate', 'Bearer')
  if (status === 429 || body.errorCode === 'UNAVAILABLE') headers.set('retry-after', String(retryAfter(thrown)))
  if (context.req.header('accept')?.includes('text/event-stream')) {
    headers.set('content-type', 'text/event-stream')
    return new Response(encodeFrame(body), { status, headers })
  }
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(body), { status, headers })
}

/** Seconds until the client may try again. */
function retryAfter(thrown: unknown): number {
  const { retryAfterMs = 0 } = thrown instanceof ToolwrightError ? thrown : {}
  return Math.max(1, Math.ceil(retryAfterMs / 1_000))
}

import type { Settings } from './settings.ts'

/**
 * The HTTP status of a refused handshake. The standard WebSocket does not report it, so the transport asks for it with a
 * plain request. Undefined if that tells nothing: a working endpoint answers a plain request with 400, 404, 405 or 426.
 */
export async function readRefusalStatus(
  { url, headers, fetch }: Pick<Settings, 'url' | 'headers' | 'fetch'>,
  failure: unknown,
  signal: AbortSignal,
): Promise<number | undefined> {
  const reported = reportedStatus(failure)
  if (reported !== undefined || !fetch) return reported
  try {
    const response = await fetch(url.replace(/^ws/, 'http'), { headers, redirect: 'manual', signal })
    void response.body?.cancel().catch(() => undefined)
    const { status } = response
    return status === 401 || status === 403 || status === 429 || status >= 500 ? status : undefined
  } catch {
    return undefined
  }
}

/** The status in the message of an error event. The package `ws` reports it there. */
function reportedStatus(failure: unknown): number | undefined {
  const { message } = (failure ?? {}) as { message?: unknown }
  const status = /\b(?:response|status)\D{0,12}(\d{3})\b/i.exec(typeof message === 'string' ? message : '')?.[1]
  return status === undefined ? undefined : Number(status)
}

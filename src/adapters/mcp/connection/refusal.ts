import { isRecord } from '../../../core/base/json.ts'

/** Statuses with other causes than a lost session: credentials, time, size, load, and servers in between. */
const OTHER_CAUSES: ReadonlySet<number> = new Set([401, 403, 408, 413, 429, 502, 503, 504])

/**
 * How a server refused a request, if that may mean that it has lost the session: the HTTP status, or the code of a JSON-RPC error
 * from the range that servers define themselves. Undefined for other errors.
 */
export function refusalOf(error: unknown): number | undefined {
  if (!isRecord(error)) return undefined
  const { status, code } = error
  if (typeof status === 'number') return status >= 400 && !OTHER_CAUSES.has(status) ? status : undefined
  return typeof code === 'number' && code <= -32_000 && code > -32_100 ? code : undefined
}

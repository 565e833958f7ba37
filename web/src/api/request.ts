import { ApiError, readApiError } from './api-error.ts'

/** Options of a request to the server. */
export interface RequestOptions {
  /** The HTTP method. Default: GET, or POST with a `body`. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | undefined
  /** The JSON body. */
  readonly body?: unknown
  /** The media type to ask for. Default: JSON. */
  readonly accept?: string | undefined
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined
  /** The request goes on when the page is closed. Browsers allow it for small bodies only. */
  readonly keepalive?: boolean
}

const MOST_KEPT_ALIVE = 20_000

/** Sends a request and returns the response. Throws an `ApiError` unless the status is 2xx. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { body, accept = 'application/json', signal, keepalive = false } = options
  const text = body === undefined ? undefined : JSON.stringify(body)
  const method = options.method ?? (body === undefined ? 'GET' : 'POST')
  const headers = { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  let response: Response
  try {
    const init: RequestInit = { method, headers, signal: signal ?? null, credentials: 'same-origin' }
    const isKept = keepalive && (text?.length ?? 0) < MOST_KEPT_ALIVE
    response = await fetch(path, text === undefined ? init : { ...init, body: text, keepalive: isKept })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError('The server does not answer. Is it still running?', { code: 'OFFLINE', cause: error })
  }
  if (!response.ok) throw await errorOf(response)
  return response
}

/** Sends a request and returns the JSON of the response. */
export async function requestJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options)
  // The page and the server are released together, and the server checks what it sends.
  return (await response.json()) as T
}

/** A part of a list. */
export interface ListPage<T> {
  /** The items. */
  readonly items: readonly T[]
  /** Where the next part starts; undefined if there is none. */
  readonly next: string | undefined
}

/** Requests a part of a list. */
export async function requestPage<T>(
  path: string,
  page: { readonly limit: number; readonly cursor?: string | undefined; readonly newestFirst?: boolean },
  signal?: AbortSignal,
): Promise<ListPage<T>> {
  const query = new URLSearchParams({ limit: String(page.limit) })
  if (page.cursor !== undefined) query.set('cursor', page.cursor)
  if (page.newestFirst) query.set('newestFirst', 'true')
  const response = await send(`${path}?${query}`, { signal })
  return { items: (await response.json()) as T[], next: response.headers.get('x-next-cursor') ?? undefined }
}

/** Requests a whole list, in pages if it is too large for one response. */
export async function requestList<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  try {
    return await requestJson<T[]>(path, { signal })
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'TOO_LARGE') throw error
  }
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await requestPage<T>(path, { limit: 500, cursor }, signal)
    items.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined)
  return items
}

/** Joins the parts of a path. Each part is escaped. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const json = text.startsWith('data:') ? text.slice('data:'.length) : text
  const fallback = new ApiError(`The server answered ${response.status}.`, { status: response.status })
  try {
    return readApiError(JSON.parse(json), response.status) ?? fallback
  } catch {
    return fallback
  }
}

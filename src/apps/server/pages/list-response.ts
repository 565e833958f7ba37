import type { RequestContext, ServerParts } from '../env.ts'
import { readNumber } from '../wire/read-body.ts'
import { type ListName, readCursor, writeCursor } from './cursor.ts'
import { type ListRange, type ListSource, writeList } from './list-text.ts'

/** The most items of a page, and those of a page whose request has a cursor and no limit. */
const MAX_LIMIT = 1_000
const DEFAULT_LIMIT = 100

interface ListOptions<T> {
  readonly name: ListName
  readonly source: ListSource<T>
  /** Makes an object around the array. */
  readonly wrap?: (array: string) => string
  /** Ends a whole list that is too large with a cursor, as if it were a page. */
  readonly endsEarly?: boolean
}

/**
 * Responds with a list: with `?limit=&cursor=` a page, and the cursor of the next one in the header `X-Next-Cursor`; else the whole
 * list, as ADK's clients expect it.
 */
export async function listResponse<T>(
  context: RequestContext,
  { limits }: Pick<ServerParts, 'limits'>,
  { name, source, wrap, endsEarly = false }: ListOptions<T>,
): Promise<Response> {
  const range = { ...readRange(context, name, limits.responseBytes), endsEarly }
  const { text, next } = await writeList(source, range)
  const headers = next === undefined ? {} : { 'x-next-cursor': writeCursor(name, next) }
  return jsonResponse(wrap ? wrap(text) : text, headers)
}

/** Does the request ask for a page? */
function wantsPage({ req }: RequestContext): boolean {
  return req.query('limit') !== undefined || req.query('cursor') !== undefined
}

/** A response with JSON text. Its length is known, so that the server knows how much memory it takes. */
export function jsonResponse(text: string, headers: Readonly<Record<string, string>> = {}): Response {
  const body = Buffer.from(text)
  return new Response(body, {
    headers: { 'content-type': 'application/json', 'content-length': String(body.byteLength), ...headers },
  })
}

function readRange(context: RequestContext, name: ListName, maxBytes: number): ListRange {
  const cursor = context.req.query('cursor')
  const after = cursor === undefined ? undefined : readCursor(name, cursor)
  const limit = wantsPage(context) ? Math.min(readNumber(context, 'limit', DEFAULT_LIMIT), MAX_LIMIT) : undefined
  return { limit, after, maxBytes }
}

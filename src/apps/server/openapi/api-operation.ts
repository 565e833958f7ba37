import type { JsonObject } from '../../../core/base/json.ts'

/** One operation: a method and a path. */
export interface ApiOperation {
  /** The method, in lower case. */
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** The path, with its parameters in braces. */
  readonly path: string
  /** The name of the operation. */
  readonly id: string
  /** What the operation does. */
  readonly summary: string
  /** Query parameters and their descriptions. */
  readonly query?: { readonly [name: string]: string }
  /** Header parameters and their descriptions. */
  readonly headers?: { readonly [name: string]: string }
  /** The schema of the body. */
  readonly body?: JsonObject
  /** May the body be left out? Default false. */
  readonly isBodyOptional?: boolean
  /** The schema of the answer, or its media type if it is not JSON. */
  readonly answer: JsonObject | 'text/event-stream' | 'text/plain'
  /** Needs no token. Default false. */
  readonly isPublic?: boolean
}

/** The path of a user. */
export const USER = '/apps/{app}/users/{user}'
/** The path of a session. */
export const SESSION: string = `${USER}/sessions/{session}`

/** The query parameters of a list with pages. */
export const PAGES: { readonly [name: string]: string } = {
  limit: 'The most items. With it, or with `cursor`, the answer is a page.',
  cursor: 'The header `X-Next-Cursor` of the page before.',
}

/** The schema of `null`. */
export const nothing: JsonObject = { type: 'null' }
/** The schema of a text. */
export const text: JsonObject = { type: 'string' }

/** The schema of a list. */
export function list(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

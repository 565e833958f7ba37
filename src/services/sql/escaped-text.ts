// Converts values to columns and back. All text uses JSON escapes: databases cannot hold lone surrogates (two different ones would
// become equal in SQLite), Postgres refuses NUL, and older versions of Node read SQLite text only up to a NUL.
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { damaged } from './damaged.ts'

/** Encodes an id or a name. Most are stored unchanged. */
export function toText(name: string): string {
  return JSON.stringify(name).slice(1, -1)
}

/** Decodes an id or a name; throws STORAGE when it is damaged. */
export function fromText(text: unknown, what: string): string {
  return fromJson(`"${String(text)}"`, what) as string
}

/** Encodes a value; throws INVALID_REQUEST when JSON cannot hold it. */
export function toJson(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new ToolwrightError('INVALID_REQUEST', `${what} cannot be stored: ${messageOf(error)}`, { cause: error })
  }
  if (text !== undefined) return text
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `${what} cannot be stored: JSON cannot hold ${value === undefined ? 'undefined' : `a ${typeof value}`}.`,
  )
}

/** Decodes a value; throws STORAGE when it is damaged. */
export function fromJson(text: unknown, what: string): unknown {
  try {
    return JSON.parse(String(text))
  } catch (error) {
    throw damaged(what, 'it is not JSON', error)
  }
}

/** Decodes a value; undefined when it is damaged. */
export function tryFromJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

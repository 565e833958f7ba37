// Text on its way into the database and out again. Everything is written with JSON's escapes: SQLite's text has no place
// for half a character (two different ones would become the same), and older versions of Node read only up to a NUL.
import { messageOf, ToolwrightError } from '../error/error.ts'
import { damaged } from './storage-error.ts'

/** An id or a name as a column holds it: itself, mostly. */
export function toText(name: string): string {
  return JSON.stringify(name).slice(1, -1)
}

export function fromText(text: unknown, what: string): string {
  return fromJson(`"${String(text)}"`, what) as string
}

/** Throws INVALID_REQUEST on what JSON cannot hold. */
export function toJson(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new ToolwrightError('INVALID_REQUEST', `${what} cannot be stored: ${messageOf(error)}`, { cause: error })
  }
  if (text !== undefined) return text
  throw new ToolwrightError('INVALID_REQUEST', `${what} cannot be stored: it is nothing JSON can hold.`)
}

export function fromJson(text: unknown, what: string): unknown {
  try {
    return JSON.parse(String(text))
  } catch (error) {
    throw damaged(what, 'it is not JSON', error)
  }
}

/** What the text says; undefined when it says nothing. */
export function readable(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

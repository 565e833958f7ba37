import { invalid } from '../wire/fields.ts'

/** The lists that have pages. */
export type ListName = 'sessions' | 'events' | 'pending' | 'artifacts' | 'versions' | 'found'

/** The cursor of a client for a position of a store. It names its list: a cursor of another list is refused. */
export function writeCursor(list: ListName, position: string): string {
  return Buffer.from(JSON.stringify([list, position])).toString('base64url')
}

/** The position of a cursor. Throws INVALID_REQUEST for anything but a cursor of this list. */
export function readCursor(list: ListName, cursor: string): string {
  const position = /^[\w-]{1,2000}$/.test(cursor) ? parse(cursor, list) : undefined
  if (position !== undefined) return position
  throw invalid(`The query parameter "cursor" is not valid. Pass the X-Next-Cursor of the page before.`)
}

function parse(cursor: string, list: ListName): string | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const [name, position] = Array.isArray(value) && value.length === 2 ? value : []
    return name === list && typeof position === 'string' ? position : undefined
  } catch {
    return undefined
  }
}

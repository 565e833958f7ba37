// One folder of a path for each id and name. No two ids share a folder, on any disk: not with other upper and lower case, not with
// other Unicode forms, and not with names that a system reserves.
import { createHash } from 'node:crypto'

/** The most characters of an encoded id. Longer ones are named by their hash. */
const MAX_LENGTH = 100
/** How much of a long id stays readable before its hash. */
const SHOWN_LENGTH = 40
/** The folder of an empty id. No other segment is `=` alone. */
const EMPTY = '='
/** Stands before a hash. An encoded character is `=` and four digits, so no other segment has it. */
const HASH = '=='

/** The name of the folder of an id: lower-case letters, digits, `-`, `_` and inner dots are kept, all else is `=` and its code. */
export function toSegment(id: string): string {
  if (id === '') return EMPTY
  const encoded = id.replace(/[^a-z0-9_.-]|^\.|\.$/gu, encodeAll).replace(RESERVED, encodeAll)
  if (encoded.length <= MAX_LENGTH) return encoded
  const shown = encoded.slice(0, SHOWN_LENGTH).replace(/=.{0,3}$/, '')
  return `${shown}${HASH}${createHash('sha256').update(JSON.stringify(id)).digest('hex')}`
}

/** The id of a folder; undefined if its name is a hash, or no name of `toSegment`. */
export function fromSegment(segment: string): string | undefined {
  if (segment === EMPTY) return ''
  if (segment.includes(HASH)) return undefined
  const id = segment.replace(/=([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return toSegment(id) === segment ? id : undefined
}

/** The first letter of names that Windows reserves, with or without an extension. */
const RESERVED = /^[a-z](?=(?:on|rn|ux|ul|om\d|pt\d)(?:\.|$))/

function encodeAll(text: string): string {
  let encoded = ''
  for (let at = 0; at < text.length; at++) encoded += `=${text.charCodeAt(at).toString(16).padStart(4, '0')}`
  return encoded
}

import { decodeOften } from './percent-encode.ts'

/**
 * Splits the name of a field as servers do: `a[b][]` and `a.b` are paths. The parts are compared without case, encodings and
 * invisible characters, because servers differ in what they ignore.
 */
function splitName(name: string): readonly string[] {
  const [text = ''] = decodeOften(name).split('\0') // some servers end a name here
  const parts = text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}|\p{Cc}/gu, '')
    .toLowerCase()
    .trim()
    .split(/[[\].]+/)
    .map((part) => part.trim().replace(/[\s+-]+/g, '_')) // some servers write `_` for them
  const last = parts.findLastIndex((part) => part !== '')
  return parts.slice(0, Math.max(last + 1, 1))
}

/** The paths as which servers may read a name. Some write `_` for a dot, or for a bracket that is not closed: `a.b` is `a_b`. */
export function pathsOf(name: string): readonly (readonly string[])[] {
  const text = decodeOften(name)
  const open = text.indexOf('[')
  const end = open >= 0 && text.includes(']', open) ? open : text.length
  const flat = text.slice(0, end).replace(/[.[]/g, '_') + text.slice(end)
  return flat === text ? [splitName(name)] : [splitName(name), splitName(flat)]
}

/** A path as one text. */
export function namePath(path: readonly string[]): string {
  return path.join('\n')
}

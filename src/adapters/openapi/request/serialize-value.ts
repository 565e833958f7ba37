// Writes the value of a parameter in one of the styles of OpenAPI, which are those of RFC 6570.
import { isRecord } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { ApiParameter } from '../operation.ts'

/** How a value is written. */
interface Format {
  /** The name in the request. */
  readonly name: string
  /** How arrays and objects are written. */
  readonly style: ApiParameter['style']
  /** Does each item of an array or object get its own name and value? */
  readonly explode: boolean
  /** Encodes values, and names unless there is `encodeName`. */
  encode(text: string): string
  /** Encodes the names of members. Default: `encode`. */
  encodeName?(text: string): string
}

/** A value without nulls: a text, a list of texts, or names with texts. */
type Flat =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'members'; readonly members: readonly (readonly [name: string, text: string])[] }

/** Writes a value for a path or a header: `simple`, `label` or `matrix`. Undefined if there is nothing to send. */
export function serializeSimple(value: unknown, format: Format): string | undefined {
  const flat = flatten(value, format)
  if (flat === undefined) return undefined
  const { name, style, explode, encode } = format
  if (style === 'label') return `.${joinFlat(flat, explode, explode ? '.' : ',')}`
  if (style !== 'matrix') return joinWhole(flat, explode, ',', name)
  const key = encode(name)
  if (flat.kind === 'text') return matrixPair(key, flat.text)
  if (!explode) return matrixPair(key, joinWhole(flat, false, ',', name))
  const pairs = flat.kind === 'list' ? flat.items.map((item) => [key, item] as const) : flat.members
  return pairs.map(([one, text]) => matrixPair(one, text)).join('')
}

/** Writes a value for a query, a form or a cookie, as `name=value` texts. */
export function serializePairs(value: unknown, format: Format): string[] {
  const { name, style, explode, encode } = format
  if (style === 'deepObject') return deepPairs(encode(name), value, format)
  const flat = flatten(value, format)
  if (flat === undefined) return []
  const key = encode(name)
  if (flat.kind === 'text') return [`${key}=${flat.text}`]
  if (explode) {
    const pairs = flat.kind === 'list' ? flat.items.map((item) => [key, item] as const) : flat.members
    return pairs.map(([one, text]) => `${one}=${text}`)
  }
  return [`${key}=${joinWhole(flat, false, SEPARATORS.get(style) ?? ',', name)}`]
}

/** The names that a value itself chooses: those of the members of an object, if each of them is a field. */
export function chosenNames(
  value: unknown,
  { name, style, explode }: Pick<Format, 'name' | 'style' | 'explode'>,
): string[] {
  if (style === 'deepObject') return deepNames(name, value)
  if (!explode || !isRecord(value)) return []
  return Object.entries(value).flatMap(([member, inner]) => (isPresent(inner) ? member : []))
}

/** The text of a value that is no array: JSON for an object, because no style describes objects in objects. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ['spaceDelimited', '%20'],
  ['pipeDelimited', '%7C'],
])

/** Encodes a value. Null is left out, alone and in arrays and objects (RFC 6570, section 2.3); so are empty ones. */
function flatten(value: unknown, { encode, encodeName = encode }: Format): Flat | undefined {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) {
    const items = value.filter(isPresent).map((item) => encode(textOf(item)))
    return items.length ? { kind: 'list', items } : undefined
  }
  if (!isRecord(value)) return { kind: 'text', text: encode(textOf(value)) }
  const entries = Object.entries(value).filter(([, member]) => isPresent(member))
  const members = entries.map(([name, member]) => [encodeName(name), encode(textOf(member))] as const)
  return members.length ? { kind: 'members', members } : undefined
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined
}

/** Joins a value whose items stay whole: an item that contains the separator would be two, and a name with `=` another one. */
function joinWhole(flat: Flat, explode: boolean, separator: string, name: string): string {
  const texts = flat.kind === 'list' ? flat.items : flat.kind === 'members' ? flat.members.flat() : []
  const isEqualSign = explode && flat.kind === 'members' && flat.members.some(([one]) => one.includes('='))
  if (!isEqualSign && !texts.some((text) => text.includes(separator))) return joinFlat(flat, explode, separator)
  const problem = `An item of "${name}" contains the character that separates items there, so that it would be read as two`
  throw new ToolError(`${problem}. Remove it.`, { code: 'INVALID_ARGS' })
}

function joinFlat(flat: Flat, explode: boolean, separator: string): string {
  if (flat.kind === 'text') return flat.text
  if (flat.kind === 'list') return flat.items.join(separator)
  return flat.members.map(([name, text]) => `${name}${explode ? '=' : separator}${text}`).join(separator)
}

function matrixPair(name: string, text: string): string {
  return text === '' ? `;${name}` : `;${name}=${text}`
}

/** Deeper values than one level are not described by OpenAPI. They follow the custom: `a[b][c]=1`, `a[0]=1`. */
function deepPairs(path: string, value: unknown, format: Format): string[] {
  const { encode, encodeName = encode } = format
  if (!isPresent(value)) return []
  if (typeof value !== 'object') return [`${path}=${encode(textOf(value))}`]
  return innerEntries(value).flatMap(([name, member]) => deepPairs(`${path}%5B${encodeName(name)}%5D`, member, format))
}

function deepNames(path: string, value: unknown): string[] {
  if (!isPresent(value)) return []
  if (typeof value !== 'object') return [path]
  return innerEntries(value).flatMap(([name, member]) => deepNames(`${path}[${name}]`, member))
}

function innerEntries(value: unknown): [name: string, member: unknown][] {
  const inner = Object.entries(value as object)
  if (inner.length > MAX_MEMBERS) throw new ToolError(TOO_MANY, { code: 'INVALID_ARGS' })
  return inner
}

const MAX_MEMBERS = 10_000
const TOO_MANY = `An argument has more than ${MAX_MEMBERS} members. Send fewer.`

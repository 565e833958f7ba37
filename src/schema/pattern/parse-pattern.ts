// Reads the regular expression of a JSON Schema pattern (ECMAScript, flag "u") into a tree for the bounded matcher.
// Only what the native engine accepts gets here, so the reader knows no syntax errors.

/** A regular expression as a tree. Captures are groups: only whether the text matches is ever asked. */
export type Tree =
  | { readonly type: 'character'; readonly is: CharacterTest }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly Tree[] }
  | { readonly type: 'repeat'; readonly body: Tree; readonly min: number; readonly max: number }
  | { readonly type: 'assertion'; readonly kind: Assertion }
  | { readonly type: 'look'; readonly body: Tree; readonly behind: boolean; readonly negated: boolean }

export type Assertion = 'start' | 'end' | 'boundary' | 'inside'

/** Which characters one step accepts. */
export interface CharacterTest {
  /** ASCII, 32 characters to a number. */
  readonly ascii: readonly [number, number, number, number]
  /** Accepts the code points from 128 on; undefined when none of them. */
  readonly beyond: ((codePoint: number) => boolean) | undefined
}

/** Is it a regular expression of ECMAScript with the flag "u"? The native engine says so. */
export function isRegularExpression(source: string): boolean {
  try {
    // It takes 100 us to look up a Unicode property, each time it is named.
    new RegExp(
      source.replace(ESCAPED, (text, property) => (property && isProperty(text) ? '\\d' : text)),
      'u',
    )
    return true
  } catch {
    return false
  }
}

const ESCAPED = /\\(?:([pP]\{[\w=]*\})|[\s\S])/g
const properties = new Set<string>()
const MAX_PROPERTIES = 1_000

function isProperty(text: string): boolean {
  if (properties.has(text)) return true
  new RegExp(text, 'u')
  if (properties.size < MAX_PROPERTIES) properties.add(text)
  return true
}

/** Why a pattern cannot be matched in bounded time, as the end of a sentence about it. */
export class UnsupportedPatternError extends Error {}

const MAX_NESTING = 100

/** Classes and Unicode properties are slow to make ready. */
const MAX_CLASSES = 200

export function parsePattern(source: string): Tree {
  const reader: Reader = { source, at: 0, tests: new Map(), classes: source.match(PROPERTIES)?.length ?? 0 }
  return choice(reader, 0)
}

const PROPERTIES = /\\[pP]\{/g

interface Reader {
  readonly source: string
  at: number
  /** Equal classes share one test. */
  readonly tests: Map<string, CharacterTest>
  classes: number
}

function choice(reader: Reader, depth: number): Tree {
  if (depth > MAX_NESTING) throw new UnsupportedPatternError(`nests groups deeper than ${MAX_NESTING} levels`)
  const parts = [sequence(reader, depth)]
  while (reader.source[reader.at] === '|') {
    reader.at++
    parts.push(sequence(reader, depth))
  }
  return parts.length === 1 ? (parts[0] as Tree) : { type: 'choice', parts }
}

function sequence(reader: Reader, depth: number): Tree {
  const parts: Tree[] = []
  for (;;) {
    const next = reader.source[reader.at]
    if (next === undefined || next === '|' || next === ')') return { type: 'sequence', parts }
    parts.push(quantified(reader, term(reader, depth)))
  }
}

function quantified(reader: Reader, body: Tree): Tree {
  QUANTIFIER.lastIndex = reader.at
  const [found, sign, min, comma, max] = QUANTIFIER.exec(reader.source) ?? []
  if (found === undefined) return body
  reader.at += found.length
  if (sign) return { type: 'repeat', body, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY }
  return {
    type: 'repeat',
    body,
    min: Number(min),
    max: comma ? (max ? Number(max) : Number.POSITIVE_INFINITY) : Number(min),
  }
}

// Lazy or greedy decides what a match holds, never whether there is one.
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,)?(\d+)?\})\??/y

function term(reader: Reader, depth: number): Tree {
  const { source, at } = reader
  switch (source[at]) {
    case '^':
      return assertion(reader, 'start', 1)
    case '$':
      return assertion(reader, 'end', 1)
    case '(':
      return group(reader, depth)
    case '[':
      return character(reader, classEnd(source, at))
    case '\\':
      return escaped(reader)
    default:
      return character(reader, at + ((source.codePointAt(at) as number) > 0xffff ? 2 : 1))
  }
}

function assertion(reader: Reader, kind: Assertion, length: number): Tree {
  reader.at += length
  return { type: 'assertion', kind }
}

function group(reader: Reader, depth: number): Tree {
  GROUP.lastIndex = reader.at
  const [opening = '', sign] = GROUP.exec(reader.source) ?? []
  if (opening === '') throw new UnsupportedPatternError('switches flags inside the pattern')
  reader.at += opening.length
  const body = choice(reader, depth + 1)
  reader.at++
  if (sign === undefined) return body
  return { type: 'look', body, behind: sign.startsWith('<'), negated: sign.endsWith('!') }
}

const GROUP = /\((?:\?(?:(<?[=!])|:|<[^>=!][^>]*>)|(?!\?))/y

function escaped(reader: Reader): Tree {
  const { source, at } = reader
  const letter = source[at + 1] as string
  if (letter === 'b') return assertion(reader, 'boundary', 2)
  if (letter === 'B') return assertion(reader, 'inside', 2)
  if (letter === 'k' || /[1-9]/.test(letter)) throw new UnsupportedPatternError('uses a back-reference')
  ESCAPE.lastIndex = at
  return character(reader, at + (ESCAPE.exec(source)?.[0].length ?? 2))
}

const ESCAPE = /\\(?:[pP]\{[^}]*\}|c[a-zA-Z]|x..|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)/uy

function classEnd(source: string, start: number): number {
  let at = start + 1
  while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1
  return at + 1
}

/** One character, an escape or a class: the native engine says which characters it means. */
function character(reader: Reader, end: number): Tree {
  const text = reader.source.slice(reader.at, end)
  reader.at = end
  let is = reader.tests.get(text)
  if (!is) {
    if (text.length > 1 && ++reader.classes > MAX_CLASSES)
      throw new UnsupportedPatternError(`has more than ${MAX_CLASSES} character classes`)
    is = testOf(text)
    reader.tests.set(text, is)
  }
  return { type: 'character', is }
}

function testOf(text: string): CharacterTest {
  const ascii: CharacterTest['ascii'] & number[] = [0, 0, 0, 0]
  const code = text.charCodeAt(0)
  if (text.length === 1 && code < 128 && text !== '.') {
    ascii[code >> 5] = 1 << (code & 31)
    return { ascii, beyond: undefined }
  }
  const native = new RegExp(`^${text}$`, 'u')
  for (let i = 0; i < 128; i++) if (native.test(String.fromCharCode(i))) (ascii[i >> 5] as number) |= 1 << (i & 31)
  if (ONLY_ASCII.test(text)) return { ascii, beyond: undefined }
  return { ascii, beyond: (codePoint) => native.test(String.fromCodePoint(codePoint)) }
}

/** Accepts nothing but ASCII, by its looks: not negated, and no escape that stands for more. */
const ONLY_ASCII = /^(?:\\[dwtnvfr]|\\[^a-zA-Z0-9]|\[(?!\^)(?:[!-[^-~ ]|\\[dwtnvfr]|\\[^a-zA-Z0-9])*\])$/

export function acceptsCharacter(is: CharacterTest, codePoint: number): boolean {
  if (codePoint < 128) return (((is.ascii[codePoint >> 5] as number) >>> (codePoint & 31)) & 1) === 1
  return is.beyond?.(codePoint) === true
}

// Parses the regular expression of a JSON Schema pattern (ECMAScript, flag "u"). The native engine has accepted it before,
// so the parser has no syntax errors.
import { type CharacterTest, createCharacterTest } from './character-test.ts'

/** A parsed regular expression. Captures are plain groups, because only the question whether a text matches is asked. */
export type Tree =
  | { readonly type: 'character'; readonly is: CharacterTest }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly Tree[] }
  | { readonly type: 'repeat'; readonly body: Tree; readonly min: number; readonly max: number }
  | { readonly type: 'assertion'; readonly kind: Assertion }
  | { readonly type: 'look'; readonly body: Tree; readonly behind: boolean; readonly negated: boolean }

/** A test of a position in the text. `inside` is `\B`: not at a word boundary. */
export type Assertion = 'start' | 'end' | 'boundary' | 'inside'

/** A pattern cannot be matched in bounded time. The message completes the sentence "the pattern ...". */
export class UnsupportedPatternError extends Error {}

const MAX_NESTING = 100

/** The most character classes of a pattern. Classes and Unicode properties are slow to compile. */
const MAX_CLASSES = 200

/** Parses a regular expression. Throws `UnsupportedPatternError`. */
export function parsePattern(source: string): Tree {
  const reader: Reader = { source, at: 0, tests: new Map(), classes: source.match(PROPERTIES)?.length ?? 0 }
  return parseChoice(reader, 0)
}

const PROPERTIES = /\\[pP]\{/g

interface Reader {
  readonly source: string
  at: number
  /** Equal classes share one test. */
  readonly tests: Map<string, CharacterTest>
  classes: number
}

function parseChoice(reader: Reader, depth: number): Tree {
  if (depth > MAX_NESTING) throw new UnsupportedPatternError(`nests groups deeper than ${MAX_NESTING} levels`)
  const parts = [parseSequence(reader, depth)]
  while (reader.source[reader.at] === '|') {
    reader.at++
    parts.push(parseSequence(reader, depth))
  }
  return parts.length === 1 ? (parts[0] as Tree) : { type: 'choice', parts }
}

function parseSequence(reader: Reader, depth: number): Tree {
  const parts: Tree[] = []
  for (;;) {
    const next = reader.source[reader.at]
    if (next === undefined || next === '|' || next === ')') return { type: 'sequence', parts }
    parts.push(parseQuantifier(reader, parseTerm(reader, depth)))
  }
}

function parseQuantifier(reader: Reader, body: Tree): Tree {
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

// Lazy or greedy decides what a match contains, never whether there is one.
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,)?(\d+)?\})\??/y

function parseTerm(reader: Reader, depth: number): Tree {
  const { source, at } = reader
  switch (source[at]) {
    case '^':
      return parseAssertion(reader, 'start', 1)
    case '$':
      return parseAssertion(reader, 'end', 1)
    case '(':
      return parseGroup(reader, depth)
    case '[':
      return parseCharacter(reader, classEnd(source, at))
    case '\\':
      return parseEscape(reader)
    default:
      return parseCharacter(reader, at + ((source.codePointAt(at) as number) > 0xffff ? 2 : 1))
  }
}

function parseAssertion(reader: Reader, kind: Assertion, length: number): Tree {
  reader.at += length
  return { type: 'assertion', kind }
}

function parseGroup(reader: Reader, depth: number): Tree {
  GROUP.lastIndex = reader.at
  const [opening = '', sign] = GROUP.exec(reader.source) ?? []
  if (opening === '') throw new UnsupportedPatternError('switches flags inside the pattern')
  reader.at += opening.length
  const body = parseChoice(reader, depth + 1)
  reader.at++
  if (sign === undefined) return body
  return { type: 'look', body, behind: sign.startsWith('<'), negated: sign.endsWith('!') }
}

const GROUP = /\((?:\?(?:(<?[=!])|:|<[^>=!][^>]*>)|(?!\?))/y

function parseEscape(reader: Reader): Tree {
  const { source, at } = reader
  const letter = source[at + 1] as string
  if (letter === 'b') return parseAssertion(reader, 'boundary', 2)
  if (letter === 'B') return parseAssertion(reader, 'inside', 2)
  if (letter === 'k' || /[1-9]/.test(letter)) throw new UnsupportedPatternError('uses a back-reference')
  ESCAPE.lastIndex = at
  return parseCharacter(reader, at + (ESCAPE.exec(source)?.[0].length ?? 2))
}

const ESCAPE = /\\(?:[pP]\{[^}]*\}|c[a-zA-Z]|x..|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)/uy

function classEnd(source: string, start: number): number {
  let at = start + 1
  while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1
  return at + 1
}

/** One character, an escape or a class. */
function parseCharacter(reader: Reader, end: number): Tree {
  const text = reader.source.slice(reader.at, end)
  reader.at = end
  let is = reader.tests.get(text)
  if (!is) {
    if (text.length > 1 && ++reader.classes > MAX_CLASSES)
      throw new UnsupportedPatternError(`has more than ${MAX_CLASSES} character classes`)
    is = createCharacterTest(text)
    reader.tests.set(text, is)
  }
  return { type: 'character', is }
}

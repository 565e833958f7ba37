/** Text that is inserted into a source. It has no line end. */
export interface Insertion {
  /** The position in the source. */
  readonly at: number
  /** The inserted text. */
  readonly text: string
}

/**
 * The source map, as JSON, of a source with insertions, which are ordered by position. Every word and sign is mapped, so that columns
 * of stack traces are exact. A general library takes several times as long, and the map is made at each start of a program.
 */
export function insertionMap(file: string, source: string, insertions: readonly Insertion[]): string {
  let mappings = ''
  let lineStart = 0
  let next = 0
  let before = { line: 0, column: 0 }
  for (const [line, text] of source.split('\n').entries()) {
    let shift = 0
    let generated = 0
    let separator = ''
    let isInWord = false
    if (line > 0) mappings += ';'
    for (let column = 0; column < text.length; column++) {
      const kind = kindOfCode(text.charCodeAt(column))
      const isStart = kind === SIGN || (kind === WORD && !isInWord)
      isInWord = kind === WORD
      if (!isStart) continue
      for (; next < insertions.length && (insertions[next] as Insertion).at <= lineStart + column; next++)
        shift += (insertions[next] as Insertion).text.length
      mappings += `${separator}${encode(column + shift - generated)}A${encode(line - before.line)}${encode(column - before.column)}`
      generated = column + shift
      before = { line, column }
      separator = ','
    }
    lineStart += text.length + 1
    // insertions at the end of a line do not move the next one
    while (next < insertions.length && (insertions[next] as Insertion).at < lineStart) next++
  }
  return JSON.stringify({ version: 3, sources: [file], names: [], mappings })
}

const [SPACE, WORD, SIGN] = [0, 1, 2]

/** What each ASCII character is. A table, because a regular expression takes several times as long. */
const KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/\s/.test(character)) return SPACE
  return /[\w$]/.test(character) ? WORD : SIGN
})

function kindOfCode(code: number): number {
  return KINDS[code] ?? SIGN
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A number in base 64, as source maps write it: five bits a digit, the sign in the lowest bit. */
function encode(value: number): string {
  let rest = value < 0 ? -value * 2 + 1 : value * 2
  if (rest < 32) return DIGITS.charAt(rest)
  let text = ''
  do {
    const bits = rest % 32
    rest = Math.floor(rest / 32)
    text += DIGITS.charAt(rest > 0 ? bits + 32 : bits)
  } while (rest > 0)
  return text
}

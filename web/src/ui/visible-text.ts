// Makes characters visible that a reader cannot see or that change how other text is shown.

/** Control, format, private and unassigned characters, other spaces than U+0020, and halves of surrogate pairs. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Any hidden character besides the newline and the tab. */
const HAS_HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u

/** A piece of text: shown as it is, or the name of a hidden character. */
export interface VisiblePiece {
  /** The text to show. */
  readonly text: string
  /** Does it stand for hidden characters? */
  readonly isMark: boolean
}

/** Text with more marks than this is shown in one piece, so that it cannot fill the page with elements. */
const MOST_MARKS = 500

const SHORT_NAMES = new Map([
  ['\n', '\n'],
  ['\t', '\t'],
  ['\r', '␍'],
  ['\u001b', '␛'],
  ['\u0000', '␀'],
])

/** Splits text into pieces in which every character is visible. Newlines and tabs stay as they are. */
export function visiblePieces(text: string): readonly VisiblePiece[] {
  if (!HAS_HIDDEN.test(text)) return [{ text, isMark: false }]
  const pieces: VisiblePiece[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    const name = nameOf(match[0])
    if (name === match[0]) continue
    if (pieces.length > 2 * MOST_MARKS) return [{ text: visibleText(text), isMark: false }]
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isMark: false })
    pieces.push({ text: name, isMark: true })
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isMark: false })
  return pieces
}

/** The text with the names of its hidden characters in it. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, nameOf)
}

/** The text in one line: newlines and tabs are named, too. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '␤').replaceAll('\t', '␉')
}

function nameOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return SHORT_NAMES.get(character) ?? `⟨U+${code}⟩`
}

const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Hebrew', 'Arabic'] as const
const SCRIPT_TESTS = SCRIPTS.map((name) => ({ name, test: new RegExp(`\\p{Script=${name}}`, 'u') }))
const OTHER_LETTER = /[^\p{ASCII}\P{L}]/u
const MOST_WORDS = 5

/** Words that mix letters of several scripts, or use letters that only look like Latin ones, with the odd letters named. */
export function lookalikeWords(text: string): readonly string[] {
  if (!OTHER_LETTER.test(text)) return []
  const found = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (found.size >= MOST_WORDS) break
    const note = OTHER_LETTER.test(word) ? lookalikeNote(word) : undefined
    if (note) found.add(note)
  }
  return [...found]
}

function lookalikeNote(word: string): string | undefined {
  const scripts = SCRIPT_TESTS.filter(({ test }) => test.test(word)).map(({ name }) => name)
  const isStyled = word.normalize('NFKC') !== word && /^[\p{ASCII}]+$/u.test(word.normalize('NFKC'))
  if (scripts.length < 2 && !isStyled) return undefined
  const odd = [...new Set([...word].filter((letter) => OTHER_LETTER.test(letter)))].slice(0, 4)
  return `${word} (${odd.map((letter) => `${letter} is ${nameOf(letter).slice(1, -1)}`).join(', ')})`
}

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
  return piecesOf(text, nameOf)
}

/**
 * The same for prose, in which some of these characters are part of the writing: joined emoji, the joiners of Persian and Indic
 * words, direction marks beside right-to-left letters, and other spaces. They stay as they are.
 */
export function prosePieces(text: string): readonly VisiblePiece[] {
  if (!HAS_HIDDEN.test(text)) return [{ text, isMark: false }]
  const written = new Set(Array.from(text.matchAll(WRITTEN), ({ index }) => index))
  const isRightToLeft = RIGHT_TO_LEFT.test(text)
  const isPartOfWriting = (character: string, at: number): boolean =>
    written.has(at) || SPACE.test(character) || (isRightToLeft && DIRECTION_MARK.test(character))
  return piecesOf(text, (character, at) => (isPartOfWriting(character, at) ? character : nameOf(character)))
}

/** Prose with the names of its hidden characters in it. */
export function visibleProse(text: string): string {
  return prosePieces(text)
    .map((piece) => piece.text)
    .join('')
}

const SPACE = /^\p{Zs}$/u
const DIRECTION_MARK = /^[\u200e\u200f\u061c]$/u
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const JOINED = String.raw`[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]`
const PICTURE = String.raw`(?:\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?)`
/** The flags of England, Scotland and Wales: the only sequences of tags that fonts draw. Other tags hide text. */
const TAGS = String.raw`\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`

/** Each hidden character that is part of an emoji, a keycap or a joined word. */
const WRITTEN = new RegExp(
  [
    String.raw`(?<=\p{Extended_Pictographic}|[0-9#*])[\ufe0e\ufe0f]`,
    String.raw`(?<=${PICTURE})\u200d(?=${PICTURE})`,
    `(?<=${JOINED})[\\u200c\\u200d](?=${JOINED})`,
    String.raw`(?<=\u{1f3f4}(?=${TAGS})[\u{e0061}-\u{e007a}]{0,5})[\u{e0061}-\u{e007f}]`,
  ].join('|'),
  'gu',
)

/** Splits text where a hidden character has a name. */
function piecesOf(text: string, name: (character: string, at: number) => string): readonly VisiblePiece[] {
  if (!HAS_HIDDEN.test(text)) return [{ text, isMark: false }]
  const pieces: VisiblePiece[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    const shown = name(match[0], match.index)
    if (shown === match[0]) continue
    if (pieces.length > 2 * MOST_MARKS) return [{ text: text.replace(HIDDEN, name), isMark: false }]
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isMark: false })
    pieces.push({ text: shown, isMark: true })
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
  return visibleText(text).replaceAll('\n', '↵').replaceAll('\t', '⇥')
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

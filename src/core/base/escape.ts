// Escapes text of models, tools and users, so that it cannot move a cursor, hide text, imitate lines or change the direction of text.
import { lazyPattern } from './lazy-pattern.ts'

/** Control characters, line separators, direction marks and zero-width characters. */
const unsafe = lazyPattern(
  String.raw`[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]`,
  'gu',
)

const SHORT_ESCAPES = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** Escapes text for a terminal. Newline and tab are kept. */
export function escapeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe(), (character) =>
      character === '\n' || character === '\t' ? character : escapeCharacter(character),
    )
}

/** Escapes text for a single line, newline and tab included. */
export function escapeLine(text: string): string {
  return text.replace(unsafe(), escapeCharacter)
}

/** Characters that are invisible or look like a space, or that fonts do not know. They are escaped where a user approves what is shown. */
const invisible = lazyPattern(
  String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}`,
  'gu',
)

/** Escapes every invisible character of a text in one line, for text beside which a user approves something. */
export function showInvisible(text: string): string {
  return text.replace(invisible(), escapeCharacter)
}

/** Formats a value as JSON in one line, with invisible characters escaped. It parses to the same value. */
export function escapeJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').replace(invisible(), jsonEscape)
}

function jsonEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return SHORT_ESCAPES.get(character) ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`)
}

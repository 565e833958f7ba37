// What models and tools say is shown, never obeyed: nothing of theirs moves the cursor, hides text or turns it around.

/** Control characters, line separators, marks that change the direction of text, and characters without a shape. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu

const SHORT = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** Text as it may be written to a terminal: newline and tab are kept, the rest of what acts or hides is spelled out. */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : spell(character)))
}

/** The same in one line, for names and messages. */
export function inOneLine(text: string): string {
  return text.replace(UNSEEN, spell)
}

/** What has no shape of its own, or another one's: it is spelled out where somebody decides on what they see. */
const SHAPELESS = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Co}]|(?! )\p{Zs}/gu

/** A value as JSON in one line, all of it, with nothing in it that cannot be seen. It parses to the same value. */
export function exactly(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').replace(SHAPELESS, jsonEscape)
}

function jsonEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

function spell(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return SHORT.get(character) ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`)
}

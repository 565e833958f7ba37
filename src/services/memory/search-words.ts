// Words as the full-text search of a database gets them: letters and digits of ASCII, so that no tokenizer splits or folds them, and no
// query syntax is in them. All databases and the search in memory so agree about what a word is.
import { splitWords } from './words.ts'

/** The most characters of an encoded word. Longer ones are cut. */
const MAX_WORD_LENGTH = 200

/** Encodes a word: letters and digits but `x` are kept, all else is `x` and its code. */
export function encodeWord(word: string): string {
  const encoded = word.replace(/[^a-wyz0-9]/g, (unit) => (unit === 'x' ? 'xx' : `x${hexOf(unit)}`))
  return encoded.slice(0, MAX_WORD_LENGTH)
}

/** The encoded words of a text. */
export function* searchWords(text: string): Iterable<string> {
  for (const word of splitWords(text)) yield encodeWord(word)
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0')
}

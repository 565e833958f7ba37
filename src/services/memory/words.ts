// Created by the first search, because creating it takes longer than importing the whole package.
let segmenter: Intl.Segmenter | undefined

/** About how many characters are split at a time. A word that is longer is cut. */
const PIECE_LENGTH = 10_000

/** The words of a text in any script, in lower case and with compatibility forms unified (NFKC). */
export function* splitWords(text: string): Iterable<string> {
  for (const piece of splitText(text)) {
    for (const { segment, isWordLike } of wordSegmenter().segment(piece.normalize('NFKC'))) {
      if (isWordLike) yield segment.toLowerCase()
    }
  }
}

/** Pieces of a text that end at a space, if there is one. */
export function* splitText(text: string): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE_LENGTH, text.length)
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end)
      if (space > start) end = space
      else if (isHighSurrogate(text.charCodeAt(end - 1))) end--
    }
    yield text.slice(start, end)
    start = end
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/**
 * The word segmenter. A fixed locale gives the same words on every machine. Scripts without spaces are split by a
 * dictionary in any locale.
 */
function wordSegmenter(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  return segmenter
}

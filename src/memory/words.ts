// Created by the first search, because creating it takes longer than importing the whole package.
let segmenter: Intl.Segmenter | undefined

/** The words of a text in any script, in lower case and with compatibility forms unified (NFKC). */
export function* splitWords(text: string): Iterable<string> {
  for (const { segment, isWordLike } of wordSegmenter().segment(text.normalize('NFKC'))) {
    if (isWordLike) yield segment.toLowerCase()
  }
}

/**
 * The word segmenter. A fixed locale gives the same words on every machine. Scripts without spaces are split by a
 * dictionary in any locale.
 */
function wordSegmenter(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  return segmenter
}

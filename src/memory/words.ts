// Segmentation is by dictionary where a script has no spaces, whatever the locale; a fixed one keeps it the same everywhere.
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

/** The words of a text in any script, in one spelling: compatibility forms unified, lower case. */
export function* wordsOf(text: string): Iterable<string> {
  for (const { segment, isWordLike } of segmenter.segment(text.normalize('NFKC'))) {
    if (isWordLike) yield segment.toLowerCase()
  }
}

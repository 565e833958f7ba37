// Segmentation is by dictionary where a script has no spaces, whatever the locale; a fixed one keeps it the same everywhere.
// made when first needed: it costs more than the import of everything else
let segmenter: Intl.Segmenter | undefined

/** The words of a text in any script, in one spelling: compatibility forms unified, lower case. */
export function* splitWords(text: string): Iterable<string> {
  for (const { segment, isWordLike } of wordSegmenter().segment(text.normalize('NFKC'))) {
    if (isWordLike) yield segment.toLowerCase()
  }
}

function wordSegmenter(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  return segmenter
}

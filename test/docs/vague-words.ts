// Finds words that name no actor and no thing. docs/contributing/glossary.md has the terms to use.

const phrases = [
  'whoever',
  'a yes',
  'in charge',
  'what was begun',
  'it goes on',
  'goes? on with',
  'comes? to rest',
  'hears? of',
  '(?:is|are) told(?! apart)',
]
const actors = ['somebody', 'anybody', '(?<!user )nobody', 'doors?']

const inText = new RegExp(`\\b(?:${[...phrases, ...actors].join('|')})\\b`, 'gi')
const inCode = new RegExp(`\\b(?:${phrases.join('|')})\\b`, 'i')
const inComment = new RegExp(`(?:^|\\s)(?://|/?\\*).*\\b(?:${actors.join('|')})\\b`, 'i')

/** The vague words of a text. */
export function vagueWords(text: string): string[] {
  return text.match(inText) ?? []
}

/**
 * The lines of a source file with vague words, each with its line number. Messages and test titles are searched for
 * phrases only, because sample data contains words such as "nobody" and "door".
 */
export function vagueLines(source: string): string[] {
  return source.split('\n').flatMap((line, at) => {
    return inCode.test(line) || inComment.test(line) ? [`${at + 1}: ${line.trim()}`] : []
  })
}

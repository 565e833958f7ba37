// Words of messages, names and descriptions, in a form in which they can be compared.

/** Longer texts are cut. */
export const MAX_TEXT_LENGTH = 20_000

const FILLERS = new Set(
  (
    'a about all an and are at be by can do does for from get have how i in is it its me my now of on one or our out ' +
    'please so that the then there they this to up us want was we were what when where which who will with you your'
  ).split(' '),
)

/** Stems that mean the same. */
const SYNONYMS = new Map([
  ['warm', 'weather'],
  ['cold', 'weather'],
  ['temperatur', 'weather'],
  ['reserv', 'book'],
])

/** The stems of the words that carry a meaning. */
export function stemsOf(text: string): string[] {
  const stems = wordsIn(text).flatMap((word) => (FILLERS.has(word) ? [] : stem(word)))
  return stems.map((word) => SYNONYMS.get(word) ?? word)
}

/** Whether the text has each word of the name of a parameter, fillers too. */
export function mentions(text: string, name: string): boolean {
  const said = new Set(wordsIn(text).map(stem))
  const words = wordsIn(labelOf(name))
  return words.length > 0 && words.every((word) => said.has(stem(word)))
}

const wordsIn = (text: string): string[] =>
  text
    .slice(0, MAX_TEXT_LENGTH)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** A word without its ending: `charges` and `charged` are `charg`. */
const stem = (word: string): string => word.slice(0, 50).replace(/(?<=...)(?:ing|ed|es|e|s)$/, '')

/** A name as words: `orderId` and `order_id` are `order id`. */
export function labelOf(name: string): string {
  const words = name.slice(0, 100).replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
  return words
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
}

/** Joins words: `a, b and c`. */
export function joinWords(items: readonly string[], and = 'and'): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${and} ${items.at(-1)}`
}

// Splits text into words and compares words by stem and synonym.

/** A range of a text. */
export interface Span {
  /** Index of the first character. */
  readonly start: number
  /** Index after the last character. */
  readonly end: number
}

/** A word in a text. */
export interface Token extends Span {
  /** The word in lower case. */
  readonly lower: string
  /** Its stem. */
  readonly stem: string
}

/** Splits a text into words. */
export function tokenize(text: string): Token[] {
  return [...text.matchAll(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)].map(({ 0: word, index }) => {
    return { lower: word.toLowerCase().replaceAll('’', "'"), stem: stem(word), start: index, end: index + word.length }
  })
}

/** Splits a name into words. `getWeather` and `get_weather` have the same words. */
export function nameWords(name: string): string[] {
  const split = name.slice(0, 200).replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
  return split.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Removes endings of a word, so that `charged`, `charges` and `charge` are equal. */
export function stem(word: string): string {
  const lower = word.toLowerCase().replace(/['’]s?$/, '')
  const plain = lower.normalize('NFD').replace(/[^\p{L}\p{N}]/gu, '')
  const single = plain.length > 3 ? plain.replace(/ies$/, 'y').replace(/(?<=[^siu])s$|(?<=ch|sh|x|z|ss)es$/, '') : plain
  const present = single.replace(/(?<=[aeiouy].*[^aeiou]|.{4})(?:ing|ed)$/, '').replace(/([^lsz])\1$/, '$1')
  return present
    .replace(/(?<=.{3})(?:ation|ion|ator|or)$/, '')
    .replace(/y$/, 'i')
    .replace(/(?<=.{3})e$/, '')
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))
/** The stems of words separated by spaces. */
export const stemsOf = (words: string): ReadonlySet<string> => new Set([...setOf(words)].map(stem))

/** Articles and possessives. */
export const determiners: ReadonlySet<string> = setOf('a an the my your our his her their its this that these some')
/** Prepositions. */
export const prepositions: ReadonlySet<string> = setOf('in at on to into from for of with by about near under than')

/** Words without a meaning of their own, or that occur in every request. */
export const stopWords: ReadonlySet<string> = new Set([
  ...determiners,
  ...prepositions,
  ...setOf(`i i'm i'd i'll i've me we us you you're he she it it's they them him let's what's where's how's who's that's don't
    am is are was were be been do does did done have has had will would shall should can could may might must
    what whats how where when why who which if whether and or but so then also too just not no yes ok okay only still again
    now here there any all both each every vs versus please thanks thank hello hi hey get gets give tell show let want wants need
    needs like know see say much many more most lot one ones thing things current currently return returns`),
])

/** Whether a word has a meaning of its own. */
export const isContentWord = ({ lower, stem }: Pick<Token, 'lower' | 'stem'>): boolean =>
  stem !== '' && !stopWords.has(lower)

// Verbs in tool names, by what the tool does.
const lookingWords =
  'get list show find search read look lookup check count fetch query view track compare calculate convert translate'
const actingWords = `create add set send book reserve transfer place order buy update make put save schedule start stop
  play lock unlock turn switch dim open close move write post pay subscribe complete mark`
const destroyingWords = 'delete remove erase cancel drop destroy purge reset wipe refund'
/** All verbs of tool names. */
export const verbs: ReadonlySet<string> = setOf(`${lookingWords} ${actingWords} ${destroyingWords}`)
/** Stems of verbs that only read. */
export const lookupVerbs: ReadonlySet<string> = stemsOf(lookingWords)
/** Stems of verbs whose effect cannot be undone. */
export const destructiveVerbs: ReadonlySet<string> = stemsOf(destroyingWords)
const acting = stemsOf(actingWords)
/** The stem is a verb that changes something. */
export const isActionVerb = (stem: string): boolean => acting.has(stem) || destructiveVerbs.has(stem)
/** The stem is a verb of tool names. */
export const isVerb = (stem: string): boolean => lookupVerbs.has(stem) || isActionVerb(stem)

/** Common synonyms. */
const synonymGroups = `weather temperature warm warmer cold colder hot hotter forecast degree rain; search find look lookup;
  add put append; create make new; delete remove erase; email mail; message sms; meeting appointment event calendar schedule;
  book reserve; buy purchase order; parcel package shipment; pay transfer; charge invoice bill; light lamp; turn switch;
  thermostat heating; todo task; file document; money currency balance; calculate add plus; calculate subtract minus;
  calculate multiply times; calculate divide divided; price cost; convert change; customer client; flight fly; city town place`
const synonyms = new Map<string, Set<string>>()
for (const group of synonymGroups.split(';').map(stemsOf))
  for (const word of group) synonyms.set(word, new Set([...(synonyms.get(word) ?? []), ...group]))

/** The synonyms of a stem. */
export const synonymsOf = (stem: string): string[] => [...(synonyms.get(stem) ?? [])]
/** Two stems are equal or synonyms. */
export const areSynonyms = (a: string, b: string): boolean => a === b || (synonyms.get(a)?.has(b) ?? false)
/** A list of stems has a synonym of the stem. */
export const includesSynonym = (words: readonly string[], stem: string): boolean =>
  words.some((word) => areSynonyms(word, stem))

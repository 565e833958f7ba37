// Finds everything in a text that could be an argument: quotes, addresses, dates, numbers, names.
import { isContentWord, prepositions, type Span, stopWords, type Token, tokenize, verbs } from './words.ts'

/** Kinds of argument candidates. */
export type MentionKind = 'quoted' | 'url' | 'email' | 'path' | 'date' | 'time' | 'id' | 'number' | 'name' | 'phrase'

/** A span of text that could be an argument. */
export interface Mention extends Span {
  /** What the span looks like. */
  readonly kind: MentionKind
  /** The value of the span. */
  readonly value: string | number
  /** Up to three words before the span, the nearest first. */
  readonly before: readonly Token[]
  /** The stem of the next word, e.g. what a number counts. */
  readonly after: string
  /** The preposition before the span. */
  readonly preposition: string | undefined
}

/** A text with its words and argument candidates. */
export interface Passage {
  /** The text. */
  readonly text: string
  /** Its words. */
  readonly tokens: readonly Token[]
  /** Its argument candidates, in order. */
  readonly mentions: readonly Mention[]
}

const MAX_MENTIONS = 200

/** Splits a text into words and finds its argument candidates. */
export function parsePassage(text: string, now: number): Passage {
  const tokens = tokenize(text)
  const taken = new Uint8Array(text.length)
  const mentions: Mention[] = []
  for (const [kind, pattern, read] of finders) {
    for (const match of text.matchAll(pattern)) {
      const inner = match.findLast((group) => group !== undefined) ?? ''
      const value = read ? read(inner.toLowerCase(), now) : inner
      const end = match.index + match[0].length
      const start = kind === 'phrase' ? end - inner.length : match.index
      if (value === undefined || mentions.length >= MAX_MENTIONS || taken.subarray(start, end).some(Boolean)) continue
      taken.fill(1, start, end)
      const next = tokens.findIndex((token) => token.start >= start)
      const before = tokens.slice(Math.max(0, next - 3), Math.max(0, next)).reverse()
      const after = tokens.find((token) => token.start === end + 1 && isContentWord(token))?.stem ?? ''
      const preposition = before.find(({ lower }) => prepositions.has(lower))?.lower
      mentions.push({ kind, value, start, end, before, after, preposition })
    }
  }
  return { text, tokens, mentions: mentions.sort((a, b) => a.start - b.start) }
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const exceptWords = (words: Iterable<string>): string =>
  `(?!(?:${[...words].map((word) => `[${word[0]}${word[0]?.toUpperCase()}]${word.slice(1)}`).join('|')})(?![\\p{L}\\p{N}]))`
const exceptStopWords = exceptWords(stopWords)
const capitalisedWord = `${exceptStopWords}\\p{Lu}[\\p{L}\\p{N}]{0,40}(?:['’-]\\p{L}{1,30}){0,3}`

/** The most specific patterns first: text that one pattern matched is skipped by the others. */
// biome-ignore format: a table
const finders: readonly (readonly [MentionKind, RegExp, ((found: string, now: number) => string | number | undefined)?])[] = [
  ['quoted', /"([^"\n]{1,4000})"|[“`]([^”`\n]{1,4000})[”`]|(?<![\p{L}\p{N}])'([^'\n]{1,1000})'(?![\p{L}\p{N}])/gu],
  ['url', /\b(?:https?:\/\/|www\.)[^\s<>"'`]{1,2000}[^\s<>"'`.,;:!?)\]]/gi],
  ['email', /(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?<![.-])/gi],
  ['path', /(?<![\w./~-])(?:~|\.{1,2})?\/(?:[\w.-]{1,100}\/){0,30}[\w.-]{0,100}\w\/?/g],
  ['path', /(?<![\w./@-])(?:[\w-]{1,100}\/){0,20}[\w-]{2,100}\.[a-z]{1,4}\d?(?![\w/@])/gi],
  ['date', wordPattern('\\d{4}-\\d{2}-\\d{2}'), (date) => (new Date(date).toJSON()?.startsWith(date) ? date : undefined)],
  ['date', wordPattern('today|tonight|tomorrow|yesterday'), (when, now) => dateAfter(now, /^to[dn]/.test(when) ? 0 : when === 'tomorrow' ? 1 : -1)],
  ['date', wordPattern(`(?:next |this )?(${weekdays.join('|')})(?:s|nes|rs|ur)?days?`), (name, now) =>
    dateAfter(now, (weekdays.indexOf(name) - new Date(now).getUTCDay() + 7) % 7 || 7)],
  ['time', /(?<![\d:.-])\d{1,2}(?::\d{2}(?: ?[ap]\.?m\b)?| ?[ap]\.?m\b)(?![\d:])/gi, parseTime],
  ['id', /(?<![\p{L}\p{N}_.@-])#?((?=[\w-]{0,40}\d)(?:[A-Z][\w-]{0,60}|[a-z]{1,10}[-_][\w-]{1,60})(?<![-_])|(?<=#)\d{1,20})(?![\p{L}\p{N}_])/gu],
  ['number', /(?<![\p{L}\p{N}_.,/:]|[\p{L}\p{N}]-)[-−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,15})(?:\.\d{1,15})?(?![\p{N}_]|[.,:/]\d|(?:st|nd|rd|th)(?!\p{L}))/giu,
    (digits) => Number(digits.replace('−', '-').replaceAll(',', ''))],
  ['number', wordPattern(numberWords.join('|')), (one) => numberWords.indexOf(one)],
  // consecutive capitalised words, e.g. Rio de Janeiro; without a verb at the start, as in "Pay Alice"
  ['name', new RegExp(`(?<![\\p{L}\\p{N}'’_-])${exceptWords(verbs)}${capitalisedWord}(?: (?:(?:de|da|do|del|la|el|van|von|der|of) ){0,2}${capitalisedWord}){0,6}`, 'gu')],
  // words after a preposition, also in lower case: "from checking", "in oslo and lima"
  ['phrase', new RegExp(`(?:(?<!\\p{L})(?:${[...prepositions, 'and'].join('|')})|,)\\s+(?:(?:the|my|an?|your) )?(${exceptStopWords}\\p{Ll}[\\p{L}’']{0,40}(?: ${exceptStopWords}\\p{Ll}[\\p{L}’']{0,40}){0,3})`, 'gu')],
]

function wordPattern(source: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}-])(?:${source})(?![\\p{L}\\p{N}-])`, 'giu')
}

function dateAfter(now: number, days: number): string {
  return new Date(now + days * 86_400_000).toISOString().slice(0, 10)
}

function parseTime(found: string): string | undefined {
  const [, hour, minutes = '00', half] = /^(\d+)(?::(\d+))? ?([ap]?)/.exec(found) ?? []
  const hours = half ? (Number(hour) % 12) + (half === 'p' ? 12 : 0) : Number(hour)
  return hours < 24 && Number(minutes) < 60 ? `${String(hours).padStart(2, '0')}:${minutes}` : undefined
}

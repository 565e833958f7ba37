// Everything in a text that could be an argument: quotes, addresses, dates, numbers, names.
import { determiners, isVerb, prepositions, type Span, stem, stopWords, type Token, tokensOf } from './words.ts'

export type MentionKind = 'quoted' | 'url' | 'email' | 'path' | 'date' | 'time' | 'id' | 'number' | 'name' | 'phrase'

export interface Mention extends Span {
  readonly kind: MentionKind
  readonly value: string | number
  /** Up to three words before it, the nearest first, none that belongs to another mention. */
  readonly before: readonly Token[]
  readonly after: Token | undefined
  /** The preposition it depends on. */
  readonly preposition: string | undefined
  /** Of a number: the stem of what is counted or measured. */
  readonly unit: string
}

export interface Passage {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly mentions: readonly Mention[]
  readonly now: number
}

const MAX_MENTIONS = 200

export function passageOf(text: string, now: number): Passage {
  const tokens = tokensOf(text)
  const [taken, solid] = [new Uint8Array(text.length), new Uint8Array(text.length)]
  const found: Pick<Mention, 'kind' | 'value' | 'start' | 'end'>[] = []
  for (const [kind, pattern, read] of finders) {
    for (const match of text.matchAll(pattern)) {
      const isWords = kind === 'name' || kind === 'phrase'
      const inner = match.findLast((group) => group !== undefined) ?? ''
      const words = kind === 'name' && isStart(text, match.index) ? withoutVerb(inner) : inner
      const value = read
        ? read(
            [...match].map((group) => group?.toLowerCase() ?? ''),
            now,
          )
        : words
      const end = match.index + match[0].length
      const start = isWords ? end - words.length : match.index
      if (!value && value !== 0) continue
      if (found.length >= MAX_MENTIONS || taken.subarray(start, end).some(Boolean)) continue
      taken.fill(1, start, end)
      if (!isWords) solid.fill(1, start, end)
      found.push({ kind, value, start, end })
    }
  }
  const mentions = found.map((one): Mention => {
    const [first, next] = [firstFrom(tokens, one.start), firstFrom(tokens, one.end)]
    const near = tokens.slice(Math.max(0, first - 3), first)
    const before = near.slice(near.findLastIndex(({ start }) => solid[start]) + 1).reverse()
    const at = before.findIndex(({ lower }) => prepositions.has(lower))
    const nouns = before.slice(0, Math.max(at, 0)).filter(({ lower }) => !determiners.has(lower)) // "to room 12"
    const after = tokens[next] && !solid[tokens[next].start] ? tokens[next] : undefined
    const preposition = nouns.length < 2 ? before[at]?.lower : undefined
    return { ...one, before, after, preposition, unit: unitAfter(text.slice(one.end, one.end + 40)) }
  })
  return { text, tokens, now, mentions: mentions.sort((a, b) => a.start - b.start) }
}

const isStart = (text: string, at: number): boolean =>
  /(?:^|[.!?\n])\s{0,9}$/.test(text.slice(Math.max(0, at - 10), at))

/** "Pay Alice": what begins a sentence is written large. */
function withoutVerb(name: string): string {
  const [first = ''] = name.split(' ')
  return isVerb(stem(first)) ? name.slice(first.length + 1) : name
}

/** The index of the first token that starts at or after a position. */
function firstFrom(tokens: readonly Token[], position: number): number {
  let [low, high] = [0, tokens.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tokens[middle]?.start ?? 0) < position) low = middle + 1
    else high = middle
  }
  return low
}

function unitAfter(text: string): string {
  const [, sign, noun = ''] = /^ ?(%|°)|^[ -]?(\p{L}+)/u.exec(text) ?? []
  return stopWords.has(noun.toLowerCase()) ? '' : stem(sign === '%' ? 'percent' : sign ? 'degree' : noun)
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const month = `((?:${months.join('|')})[a-z]{0,6})`
const near = new Map([
  ['tomorrow', 1],
  ['yesterday', -1],
])
const small = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const stop = `(?!(?:${[...stopWords].map((word) => `[${word[0]}${word[0]?.toUpperCase()}]${word.slice(1)}`).join('|')})(?![\\p{L}\\p{N}]))`
const large = `${stop}\\p{Lu}[\\p{L}\\p{N}]{0,40}(?:['’-]\\p{L}{1,30}){0,3}`

type Read = (groups: readonly string[], now: number) => string | number | undefined

/** The most telling first: what one has found, those after it leave alone. A date is read in UTC. */
// biome-ignore format: a table
const finders: readonly (readonly [kind: MentionKind, pattern: RegExp, read?: Read])[] = [
  ['quoted', /"([^"\n]{1,4000})"/g],
  ['quoted', /[“`]([^”`\n]{1,4000})[”`]/g],
  ['quoted', /(?<![\p{L}\p{N}])'([^'\n]{1,1000}(?:'\p{L}[^'\n]{0,1000}){0,20})'(?![\p{L}\p{N}])/gu],
  ['url', /\b(?:https?:\/\/|www\.)[^\s<>"'`]{1,2000}[^\s<>"'`.,;:!?)\]]/gi],
  ['email', /(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?<![.-])/gi],
  ['path', /(?<![\w./~-])(?:~|\.{1,2})?\/(?:[\w.-]{1,100}\/){0,30}[\w.-]{0,100}\w\/?/g],
  ['path', /(?<![\w./@-])(?:[\w-]{1,100}\/){0,20}[\w-]{2,100}\.[a-z]{1,4}\d?(?![\w/@])/gi],
  ['date', word('(\\d{4})-(\\d{2})-(\\d{2})'), ([, y, m, d]) => day(Number(y), Number(m), Number(d))],
  ['date', word('(today|tonight|tomorrow|yesterday)'), ([, when = ''], now) => later(now, near.get(when) ?? 0)],
  ['date', word(`(?:next |this )?(${weekdays.join('|')})(?:s|nes|rs|ur)?days?`), ([, name = ''], now) =>
    later(now, (weekdays.indexOf(name) - new Date(now).getUTCDay() + 7) % 7 || 7)],
  ['date', word('in (\\d{1,3}) (day|week)s?'), ([, n, unit], now) => later(now, Number(n) * (unit === 'week' ? 7 : 1))],
  ['date', word(`${month}\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?`), ([, m, d, y], now) => dated(m, d, y, now)],
  ['date', word(`(\\d{1,2})(?:st|nd|rd|th)? (?:of )?${month}(?:,? (\\d{4}))?`), ([, d, m, y], now) => dated(m, d, y, now)],
  ['time', /(?<![\d:.-])(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?/gi, ([, h, m = '', half]) =>
    Number(h) > 12 ? undefined : timeOf((Number(h) % 12) + (half === 'p' ? 12 : 0), m)],
  ['time', /(?<![\d:.-])(\d{1,2}):(\d{2})(?![\d:])/g, ([, h, m = '']) => timeOf(Number(h), m)],
  ['id', /(?<![\p{L}\p{N}_.@-])#?((?=[\w-]{0,40}\d)(?:[A-Z][\w-]{0,60}|[a-z]{1,10}[-_][\w-]{1,60})(?<![-_])|(?<=#)\d{1,20})(?![\p{L}\p{N}_])/gu],
  ['number', /(?<![\p{L}\p{N}_.,/:]|[\p{L}\p{N}]-)[-−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,15})(?:\.\d{1,15})?(?![\p{N}_]|[.,:/]\d|(?:st|nd|rd|th)(?!\p{L}))/giu,
    ([digits = '']) => Number(digits.replace('−', '-').replaceAll(',', ''))],
  ['number', word(`(${tens.join('|')})(?:[- ](${small.slice(1, 10).join('|')}))?`), ([, ten = '', one = '']) =>
    (tens.indexOf(ten) + 2) * 10 + Math.max(0, small.indexOf(one))],
  ['number', word(`(${small.join('|')}|an?(?= (?:second|minute|hour|day|week)))`), ([, one = '']) => Math.abs(small.indexOf(one))],
  // capitalised words that stand together: Rio de Janeiro
  ['name', new RegExp(`(?<![\\p{L}\\p{N}'’_-])(${large}(?: (?:(?:de|da|do|del|la|el|van|von|der|of) ){0,2}${large}){0,6})`, 'gu')],
  // what follows a preposition, in small letters too: "from checking", "in oslo and lima"
  ['phrase', new RegExp(`(?:(?<!\\p{L})(?:${[...prepositions, 'and'].join('|')})|,)\\s+(?:(?:the|my|an?|your) )?(${stop}\\p{Ll}[\\p{L}’']{0,40}(?: ${stop}\\p{Ll}[\\p{L}’']{0,40}){0,3})`, 'gu')],
]

function word(source: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}-])${source}(?![\\p{L}\\p{N}-])`, 'giu')
}

export function later(now: number, days: number): string {
  return new Date(now + days * 86_400_000).toISOString().slice(0, 10)
}

/** A day that exists. */
function day(year: number, month: number, date: number): string | undefined {
  const made = new Date(Date.UTC(year, month - 1, date))
  const isReal = year > 1000 && made.getUTCMonth() === month - 1 && made.getUTCDate() === date
  return isReal ? later(made.getTime(), 0) : undefined
}

/** A date without a year is the next one. */
function dated(name = '', date: string | undefined, year: string | undefined, now: number): string | undefined {
  const from = Number(year) || new Date(now).getUTCFullYear()
  const days = [0, 1, 2, 3, 4].map((more) => day(from + more, months.indexOf(name.slice(0, 3)) + 1, Number(date)))
  return year ? days[0] : days.find((found) => found !== undefined && found >= later(now, 0))
}

function timeOf(hours: number, minutes: string): string | undefined {
  const isTime = hours < 24 && Number(minutes) < 60
  return isTime ? `${String(hours).padStart(2, '0')}:${minutes.padStart(2, '0')}` : undefined
}

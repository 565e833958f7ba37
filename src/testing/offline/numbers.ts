import type { Mention } from './mention.ts'
import { determiners, prepositions, stem, stopWords } from './words.ts'

const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'

/** Numbers written as words. */
export const numberWords: ReadonlyMap<string, number> = new Map([
  ...small.split(' ').map((word, value) => [word, value] as const),
  ...tens.split(' ').map((word, at) => [word, (at + 2) * 10] as const),
  ['dozen', 12],
  ['hundred', 100],
])

const scales: ReadonlyMap<string, number> = new Map([
  ['k', 1_000],
  ['thousand', 1_000],
  ['million', 1_000_000],
])

const digits =
  /(?<![\p{L}\p{N}_.,/:]|[\p{L}\p{N}]-)([-−]?)(\p{Sc} ?)?([-−]?)(\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)|\d{1,15})(\.\d{1,15})?(?: ?(k|thousand|million)(?![\p{L}\p{N}]))?(?![\p{N}_]|[.,:/]\d|(?:st|nd|rd|th)(?!\p{L}))/giu
const spelled = new RegExp(
  `(?<![\\p{L}\\p{N}-])(minus |negative )?(?:(${tens.replaceAll(' ', '|')})[- ])?(${[...numberWords.keys()].join('|')})(?![\\p{L}\\p{N}-])`,
  'giu',
)

const single = /(?<![\p{L}\p{N}-])(half )?an? (?=(?:second|minute|hour|day|night|week|month|year)(?!\p{L}))/giu

/** Numbers, without their units: `-3.5`, `1,200`, `$40`, `20%`, `12 km`, `5k`, `twenty-five`. */
export function numbersIn(text: string): Mention[] {
  return [...written(text), ...inWords(text)]
}

function written(text: string): Mention[] {
  const found: Mention[] = []
  for (const match of text.matchAll(digits)) {
    const [whole, sign = '', symbol, innerSign, integer = '', fraction = '', scale = ''] = match
    const size = Number(integer.replace(/[,\u00a0\u202f]/g, '') + fraction)
    const isNegative = (sign || innerSign) !== ''
    const value = size * (scales.get(scale.toLowerCase()) ?? 1) * (isNegative ? -1 : 1)
    const start = match.index + (symbol ? (sign + symbol).length : 0) // the sign of the currency is a mention of its own
    const end = match.index + whole.length
    found.push({ kind: 'number', value, start, end, unit: symbol ? stem('money') : unitAfter(text, end) })
  }
  return found
}

function inWords(text: string): Mention[] {
  const found: Mention[] = []
  for (const match of text.matchAll(spelled)) {
    const [whole, negative, ten, last = ''] = match
    const units = numberWords.get(last.toLowerCase()) ?? 0
    if (ten !== undefined && (units === 0 || units > 9)) continue
    const size = ten === undefined ? units : (numberWords.get(ten.toLowerCase()) ?? 0) + units
    const end = match.index + whole.length
    const value = negative ? -size : size
    found.push({ kind: 'number', value, start: match.index, end, unit: unitAfter(text, end), isWord: true })
  }
  for (const { 0: whole, 1: half, index } of text.matchAll(single)) {
    const end = index + whole.length - 1
    const value = half ? 0.5 : 1
    found.push({ kind: 'number', value, start: index, end, unit: unitAfter(text, end), isWord: true })
  }
  return found
}

/** What is counted: the noun that follows, or the sign. */
function unitAfter(text: string, at: number): string | undefined {
  const after = text.slice(at, at + 40)
  if (/^ ?%/.test(after)) return stem('percent')
  if (/^ ?°/.test(after)) return stem('degree')
  const [, word = ''] = /^[ -]?(\p{L}+)/u.exec(after) ?? []
  const lower = word.toLowerCase()
  if (word === '' || prepositions.has(lower) || determiners.has(lower) || stopWords.has(lower)) return undefined
  return stem(word)
}

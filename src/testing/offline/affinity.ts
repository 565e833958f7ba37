// How well a mention fits a parameter.
import { secondsIn } from './durations.ts'
import type { Kind } from './kinds.ts'
import type { MentionKind } from './mention.ts'
import type { Parameter } from './parameters.ts'
import type { Placed } from './passage.ts'
import { isFor } from './roles.ts'
import { areNear } from './synonyms.ts'
import { isContent, type Token } from './words.ts'

type Fits = Partial<Record<MentionKind, number>>

/** What each kind of parameter can be made from, and how gladly. */
const fits: Partial<Record<Kind, Fits>> = {
  number: { number: 3 },
  date: { date: 3, datetime: 3 },
  time: { time: 3, datetime: 2, number: 0.5 },
  datetime: { datetime: 4, date: 3, time: 2.5 },
  email: { email: 3 },
  url: { url: 3 },
  path: { path: 3, quoted: 2.5 },
  id: { id: 3, number: 2, quoted: 2.5, name: 1.5, phrase: 0.2 },
  phone: { phone: 3, number: 1, quoted: 2.5 },
  tag: { tag: 3, quoted: 2.5, name: 1.5, phrase: 0.5 },
  currency: { currency: 3 },
  language: { language: 3, phrase: 0.2 },
  place: { name: 3, quoted: 2.5, phrase: 1, language: 0.1 },
  person: { name: 3, tag: 2.5, quoted: 2, email: 2, phrase: 0.5 },
  name: { name: 3, quoted: 3, phrase: 0.3 },
  expression: { expression: 4, quoted: 2.5 },
}

/** Above zero when the one can be made from the other; `others` are the parameters it competes with. */
export function affinity(parameter: Parameter, mention: Placed, others: readonly Parameter[]): number {
  const fit = fits[parameter.kind]?.[mention.kind]
  if (fit === undefined || !canBe(parameter, mention)) return 0
  const near = fit + cues(parameter, mention)
  if (mention.kind === 'number') return near + measure(parameter, mention)
  if (isFor(mention.preposition, parameter) || (mention.isOfAmount && isFor('from', parameter))) return near + 1.5
  const isForAnother = others.some((other) => other !== parameter && isFor(mention.preposition, other))
  return isForAnother ? near - 1.5 : near
}

const calling = new Set(['called', 'named', 'titled', 'entitled'])

/** What looks right and still is not meant. */
function canBe(parameter: Parameter, mention: Placed): boolean {
  const { kind, value, preposition, unit, isWord } = mention
  const isNamed = namedBefore(parameter, mention)
  if (kind === 'name' && calling.has(mention.before[0]?.lower ?? '')) return false // its text may be longer
  if (parameter.schema.type === 'integer' && !Number.isInteger(value)) return false
  if (kind === 'phrase') return isNamed || isFor(preposition, parameter)
  if (parameter.kind === 'time' && kind === 'number') return preposition === 'at'
  if (parameter.kind !== 'id') return true
  if (kind === 'name') return /^[A-Z\d.]{2,10}$/.test(String(value))
  if (kind === 'quoted') return !/\s/.test(String(value))
  return kind !== 'number' || (!isWord && (unit === undefined || isNamed)) // "order 12" is one, "12 apples" are not
}

/** Words of the parameter's name, or of its description, near the mention: the nearer, the more they say. */
function cues({ words, about }: Parameter, { before, after, unit }: Placed): number {
  const speaks = (token: { readonly stem: string } | undefined): boolean =>
    token !== undefined && speaksOf(words, token.stem)
  if (speaks(before[0])) return 2.5
  if (speaks(after[0]) || (unit !== undefined && speaksOf(words, unit))) return 2.2
  const near = before.find(isContent)
  if (speaks(near)) return 1.5
  if ([...before, ...after].some(speaks)) return 1
  return [near?.stem, after[0]?.stem, unit].some((stem) => stem !== undefined && about.has(stem)) ? 0.8 : 0
}

/** "order 12" names what 12 is. */
function namedBefore(parameter: Parameter, { before }: Placed): boolean {
  const noun: Token | undefined = before.find(isContent)
  return noun !== undefined && speaksOf(parameter.words, noun.stem)
}

export function speaksOf(words: readonly string[], stem: string): boolean {
  return words.some((word) => areNear(word, stem))
}

/** What the schema says of numbers. One that it does not allow is still better than none. */
function measure({ schema, words }: Parameter, { value, unit, preposition }: Placed): number {
  if (typeof value !== 'number') return 0
  const { minimum, maximum } = schema
  const isOut = (typeof minimum === 'number' && value < minimum) || (typeof maximum === 'number' && value > maximum)
  const isDuration = secondsIn(unit) !== undefined && words.some((word) => secondsIn(word) !== undefined)
  const isShare = unit === 'percent' && maximum === 100
  const isSetTo = preposition === 'to' // "set the volume to 5"
  return (isOut ? -1.5 : 0) + (isShare || isDuration ? 2 : 0) + (isSetTo ? 0.75 : 0)
}

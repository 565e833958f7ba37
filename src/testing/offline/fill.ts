// The values of a tool's parameters, as far as a passage has them: choices, yes and no, what has a form, then texts.
import { type JsonObject, setOwn } from '../../base/json.ts'
import type { FunctionCall } from '../../content/content.ts'
import type { Mention, MentionKind, Passage } from './mentions.ts'
import { type Declared, type Kind, type Parameter, plain } from './parameters.ts'
import { type Filling, fillTexts } from './texts.ts'
import { isContent, nameWords, type Span, speaksOf, stem, stemsOf } from './words.ts'

export interface Filled {
  /** Those that were recognised first. */
  readonly values: ReadonlyMap<Parameter, unknown>
  /** A parameter that a list was given for: one call for each further value. */
  readonly several: { readonly parameter: Parameter; readonly values: readonly unknown[] } | undefined
  readonly missing: readonly Parameter[]
  /** How many values were recognised by more than being left over. */
  readonly recognised: number
}

interface Spot extends Span {
  readonly value: unknown
}

export function fill(tool: Declared, passage: Passage): Filled {
  const marks = new Uint8Array(passage.text.length)
  const values = new Map<Parameter, unknown>()
  const take = ({ start, end }: Span): void => void marks.fill(1, start, end)
  const isFree = ({ start, end }: Span): boolean => !marks.subarray(start, end).some(Boolean)
  const filling: Filling = { tool, passage, values, take, isFree }
  const more: { readonly parameter: Parameter; readonly spots: readonly Spot[] }[] = []
  const assign = (parameter: Parameter, first: Spot, all: readonly Spot[]): void => {
    const run = runOf(first, all, filling)
    values.set(parameter, first.value)
    take(first)
    more.push({ parameter, spots: run.slice(1) })
  }
  for (const parameter of tool.parameters) {
    const { kind, choices } = parameter
    const spots = kind === 'boolean' ? saidTo(parameter, passage) : chosenIn(choices, filling)
    if (spots[0]) assign(parameter, spots[0], spots)
  }
  const pairs = tool.parameters.flatMap((parameter, at) =>
    passage.mentions.map((mention) => {
      const score = worth(parameter, mention, filling) - at / 100 - mention.start / 1e6 // of equals the first
      return { parameter, mention, score }
    }),
  )
  for (const { parameter, mention } of pairs.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)) {
    if (values.has(parameter) || !isFree(mention)) continue
    const same = passage.mentions.filter((one) => one.kind === mention.kind && isFree(one))
    const spots = same.map((one) => ({ ...one, value: converted(parameter, one, passage) }))
    assign(parameter, spots[same.indexOf(mention)] ?? mention, spots)
  }
  const recognised = fillTexts(filling)
  const [several] = more.flatMap(({ parameter, spots }) => {
    const free = spots.filter(isFree)
    return free.length ? [{ parameter, values: free.map(({ value }) => value) }] : []
  })
  return { values, several, missing: missingOf(tool, values), recognised }
}

/** What each kind of parameter can be made from besides its own kind, and how gladly. */
const fits: Partial<Record<Kind, Partial<Record<MentionKind, number>>>> = {
  path: { quoted: 2.5 },
  id: { number: 2, quoted: 2.5, name: 1.5, phrase: 0.2 },
  place: { name: 3, quoted: 2.5, phrase: 1 },
  name: { quoted: 2.5, email: 2, phrase: 0.5 },
  text: { quoted: 2.5 },
}

/** Prepositions say which of several parameters a value is for. */
const roles: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['from', stemsOf('from source origin sender start')],
  ['to', stemsOf('to target destination recipient end language contact email')],
  ['in', stemsOf('city place location town country room address folder language currency')],
  ['by', stemsOf('artist author')],
])

/** Not above zero when too little speaks for it: an optional number needs a word that says what it is. */
function worth(parameter: Parameter, mention: Mention, { tool, passage }: Filling): number {
  const { kind, words, schema, isRequired } = parameter
  const { value, preposition = '', before, after, kind: found } = mention
  const fit = kind === found ? 3 : fits[kind]?.[found]
  if (fit === undefined || (schema.type === 'integer' && !Number.isInteger(value))) return 0
  const isNamed = speaksOf(words, before.find(isContent)?.stem ?? '')
  const isOwn = words.some((word) => roles.get(preposition)?.has(word) || word === preposition)
  if (found === 'name' && isMereWord(mention, tool, passage)) return 0
  if (found === 'phrase' && !isNamed && !isOwn) return 0
  if (kind === 'id' && /^(?:name|quoted)$/.test(found) && /[\s\p{Ll}]/u.test(String(value))) return 0
  const score = fit + (isNamed || speaksOf(words, after) ? 2 : 0) + (isOwn ? 1.5 : 0)
  return score < (isRequired ? 0.5 : kind === 'number' ? 3.5 : 2) ? 0 : score
}

/** "Weather" in capitals names the tool; the first word of a sentence is a name only when what follows says so. */
function isMereWord({ value, start, after }: Mention, { nameStems, weights }: Declared, { text }: Passage): boolean {
  const words = String(value).split(' ').map(stem)
  if (words.every((word) => (start === 0 ? weights.has(word) : nameStems.includes(word)))) return true
  const isFirst = words.length === 1 && /(?:^|[.!?\n])\s{0,9}$/.test(text.slice(Math.max(0, start - 10), start))
  return isFirst && after !== '' && !weights.has(after)
}

/** The value a mention becomes. */
function converted({ kind }: Parameter, { kind: found, value, start, end }: Mention, { text }: Passage): unknown {
  if (typeof value === 'number') return kind === 'number' ? value : text.slice(start, end)
  return kind === 'place' && found === 'phrase' ? inCapitals(value) : value
}

export const inCapitals = (text: string): string =>
  text.replace(/(?<![\p{L}\p{N}'’])\p{Ll}/gu, (letter) => letter.toUpperCase())

const listing =
  /^\s*(?:[,&\n]|,?\s(?:and|or|plus|with|versus|vs|(?:\S+ ){0,3}\S+er than)\s)\s*(?:(?:in|at|for|the|an?|my) )*$/i

/** The spots that form a list with this one: "Oslo, Lima and Cairo", "in Oslo and in Lima", "Oslo warmer than Lima". */
function runOf(one: Spot, all: readonly Spot[], { passage: { text } }: Filling): Spot[] {
  const first = all.indexOf(one)
  let last = first
  const isListed = ({ end }: Spot, next: Spot | undefined): boolean =>
    next !== undefined && next.start - end < 60 && listing.test(text.slice(end, next.start))
  while (isListed(all[last] ?? one, all[last + 1])) last++
  return all.slice(first, last + 1)
}

/** The choices a passage names, in its order. */
function chosenIn(choices: readonly unknown[], { passage: { tokens }, isFree }: Filling): Spot[] {
  const found = choices.flatMap((value): Spot[] => {
    const words = nameWords(plain(value)).map(stem)
    const isHere = (at: number): boolean => words.every((word, next) => tokens[at + next]?.stem === word)
    const at = words.length ? tokens.findIndex((token, index) => isHere(index) && isFree(token)) : -1
    return at < 0 ? [] : [{ value, start: tokens[at]?.start ?? 0, end: tokens[at + words.length - 1]?.end ?? 0 }]
  })
  return found.sort((a, b) => a.start - b.start || b.end - a.end)
}

const opposites = new Map(Object.entries({ off: 'on', unlock: 'lock', clos: 'open' }))

/** Whether the passage says yes or no to it, and where: by its name, or by words such as "on" and "off". */
function saidTo({ words }: Parameter, { tokens }: Passage): Spot[] {
  const at = words.map((word) => tokens.findIndex(({ stem }) => stem === word || opposites.get(stem) === word))
  const [first, last] = [tokens[Math.min(...at)], tokens[Math.max(...at)]]
  if (!first || !last) return []
  const near = tokens.slice(Math.max(0, Math.min(...at) - 3), Math.min(...at) + 1)
  const isNo = near.some(({ lower, stem }) => /^(?:no|not|without|never|don't)$/.test(lower) || opposites.has(stem))
  return [{ value: !isNo, start: first.start, end: last.end }]
}

/** What a call is not possible without. */
export function missingOf({ parameters }: Declared, values: ReadonlyMap<Parameter, unknown>): Parameter[] {
  return parameters.filter((one) => one.isRequired && !values.has(one))
}

/** One call, or one for each of several values. */
export function callsOf({ name, parameters }: Declared, { values, several }: Filled): FunctionCall[] {
  const others = several?.values.map((value) => new Map(values).set(several.parameter, value)) ?? []
  return [values, ...others].map((each) => {
    const args: JsonObject = {}
    for (const parameter of parameters) {
      const value = each.has(parameter) ? each.get(parameter) : parameter.fallback
      if (value !== undefined) setOwn(args, parameter.name, value)
    }
    return { name, args }
  })
}

// Finds the arguments of a tool in a passage: first choices and booleans, then mentions, then free text.
import { type JsonObject, setOwn } from '../../base/json.ts'
import type { FunctionCall } from '../../content/content.ts'
import { type DeclaredTool, type Parameter, type ParameterKind, toPlainText } from './declared-tool.ts'
import { type FillState, fillTextArguments } from './fill-text-arguments.ts'
import type { Mention, MentionKind, Passage } from './passage.ts'
import { includesSynonym, isContentWord, nameWords, type Span, stem, stemsOf } from './words.ts'

/** The arguments that were found for a tool. */
export interface FilledArguments {
  /** Values by parameter; recognised values come first. */
  readonly values: ReadonlyMap<Parameter, unknown>
  /** Further values that the passage lists for one parameter. Each value becomes a further call. */
  readonly furtherValues: { readonly parameter: Parameter; readonly values: readonly unknown[] } | undefined
  /** Required parameters without a value. */
  readonly missing: readonly Parameter[]
  /** Number of recognised values. Values that are only unused text do not count. */
  readonly recognisedCount: number
}

interface ValueSpan extends Span {
  readonly value: unknown
}

/** Finds the arguments of a tool in a passage. */
export function fillArguments(tool: DeclaredTool, passage: Passage): FilledArguments {
  const marks = new Uint8Array(passage.text.length)
  const values = new Map<Parameter, unknown>()
  const markUsed = ({ start, end }: Span): void => void marks.fill(1, start, end)
  const isUnused = ({ start, end }: Span): boolean => !marks.subarray(start, end).some(Boolean)
  const state: FillState = { tool, passage, values, markUsed, isUnused }
  const more: { readonly parameter: Parameter; readonly spots: readonly ValueSpan[] }[] = []
  const assign = (parameter: Parameter, first: ValueSpan, all: readonly ValueSpan[]): void => {
    const run = findListItems(first, all, state)
    values.set(parameter, first.value)
    markUsed(first)
    more.push({ parameter, spots: run.slice(1) })
  }
  for (const parameter of tool.parameters) {
    const { kind, choices } = parameter
    const spots = kind === 'boolean' ? findBoolean(parameter, passage) : findChoices(choices, state)
    if (spots[0]) assign(parameter, spots[0], spots)
  }
  const pairs = tool.parameters.flatMap((parameter, at) =>
    passage.mentions.map((mention) => {
      const score = scoreMention(parameter, mention, state) - at / 100 - mention.start / 1e6 // of equal scores, the first parameter and the first mention win
      return { parameter, mention, score }
    }),
  )
  for (const { parameter, mention } of pairs.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)) {
    if (values.has(parameter) || !isUnused(mention)) continue
    const same = passage.mentions.filter((one) => one.kind === mention.kind && isUnused(one))
    const spots = same.map((one) => ({ ...one, value: convertMention(parameter, one, passage) }))
    assign(parameter, spots[same.indexOf(mention)] ?? mention, spots)
  }
  const recognisedCount = fillTextArguments(state)
  const [furtherValues] = more.flatMap(({ parameter, spots }) => {
    const free = spots.filter(isUnused)
    return free.length ? [{ parameter, values: free.map(({ value }) => value) }] : []
  })
  return { values, furtherValues, missing: findMissing(tool, values), recognisedCount }
}

/** Scores for filling a parameter kind from another kind of mention. */
const kindScores: Partial<Record<ParameterKind, Partial<Record<MentionKind, number>>>> = {
  path: { quoted: 2.5 },
  id: { number: 2, quoted: 2.5, name: 1.5, phrase: 0.2 },
  place: { name: 3, quoted: 2.5, phrase: 1 },
  name: { quoted: 2.5, email: 2, phrase: 0.5 },
  text: { quoted: 2.5 },
}

/** Words in parameter names that match a preposition before a value. */
const prepositionRoles: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['from', stemsOf('from source origin sender start')],
  ['to', stemsOf('to target destination recipient end language contact email')],
  ['in', stemsOf('city place location town country room address folder language currency')],
  ['by', stemsOf('artist author')],
])

/**
 * Scores how well a mention fits a parameter; 0 when too little connects them. For an optional number, a word beside it
 * must name the parameter.
 */
function scoreMention(parameter: Parameter, mention: Mention, { tool, passage }: FillState): number {
  const { kind, words, schema, isRequired } = parameter
  const { value, preposition = '', before, after, kind: found } = mention
  const fit = kind === found ? 3 : kindScores[kind]?.[found]
  if (fit === undefined || (schema.type === 'integer' && !Number.isInteger(value))) return 0
  const isNamed = includesSynonym(words, before.find(isContentWord)?.stem ?? '')
  const isOwn = words.some((word) => prepositionRoles.get(preposition)?.has(word) || word === preposition)
  if (found === 'name' && isMereWord(mention, tool, passage)) return 0
  if (found === 'phrase' && !isNamed && !isOwn) return 0
  if (kind === 'id' && /^(?:name|quoted)$/.test(found) && /[\s\p{Ll}]/u.test(String(value))) return 0
  const score = fit + (isNamed || includesSynonym(words, after) ? 2 : 0) + (isOwn ? 1.5 : 0)
  return score < (isRequired ? 0.5 : kind === 'number' ? 3.5 : 2) ? 0 : score
}

/**
 * Is the mention an ordinary capitalised word and not a name? Words of the tool's name ("Weather") are ordinary. So is
 * the first word of a sentence, unless the next word belongs to the tool.
 */
function isMereWord(
  { value, start, after }: Mention,
  { nameStems, weights }: DeclaredTool,
  { text }: Passage,
): boolean {
  const words = String(value).split(' ').map(stem)
  if (words.every((word) => (start === 0 ? weights.has(word) : nameStems.includes(word)))) return true
  const isFirst = words.length === 1 && /(?:^|[.!?\n])\s{0,9}$/.test(text.slice(Math.max(0, start - 10), start))
  return isFirst && after !== '' && !weights.has(after)
}

/** Converts a mention to the value of a parameter. */
function convertMention({ kind }: Parameter, { kind: found, value, start, end }: Mention, { text }: Passage): unknown {
  if (typeof value === 'number') return kind === 'number' ? value : text.slice(start, end)
  return kind === 'place' && found === 'phrase' ? capitalizeWords(value) : value
}

/** Capitalizes each word. */
export const capitalizeWords = (text: string): string =>
  text.replace(/(?<![\p{L}\p{N}'’])\p{Ll}/gu, (letter) => letter.toUpperCase())

const listing =
  /^\s*(?:[,&\n]|,?\s(?:and|or|plus|with|versus|vs|(?:\S+ ){0,3}\S+er than)\s)\s*(?:(?:in|at|for|the|an?|my) )*$/i

/** The values in a list with this one: "Oslo, Lima and Cairo", "in Oslo and in Lima", "Oslo warmer than Lima". */
function findListItems(one: ValueSpan, all: readonly ValueSpan[], { passage: { text } }: FillState): ValueSpan[] {
  const first = all.indexOf(one)
  let last = first
  const isListed = ({ end }: ValueSpan, next: ValueSpan | undefined): boolean =>
    next !== undefined && next.start - end < 60 && listing.test(text.slice(end, next.start))
  while (isListed(all[last] ?? one, all[last + 1])) last++
  return all.slice(first, last + 1)
}

/** The choices that the passage names, in order. */
function findChoices(choices: readonly unknown[], { passage: { tokens }, isUnused }: FillState): ValueSpan[] {
  const found = choices.flatMap((value): ValueSpan[] => {
    const words = nameWords(toPlainText(value)).map(stem)
    const isHere = (at: number): boolean => words.every((word, next) => tokens[at + next]?.stem === word)
    const at = words.length ? tokens.findIndex((token, index) => isHere(index) && isUnused(token)) : -1
    return at < 0 ? [] : [{ value, start: tokens[at]?.start ?? 0, end: tokens[at + words.length - 1]?.end ?? 0 }]
  })
  return found.sort((a, b) => a.start - b.start || b.end - a.end)
}

const opposites = new Map(Object.entries({ off: 'on', unlock: 'lock', clos: 'open' }))

/** The boolean that the passage states for a parameter: by its name, or by words such as "on" and "off". */
function findBoolean({ words }: Parameter, { tokens }: Passage): ValueSpan[] {
  const at = words.map((word) => tokens.findIndex(({ stem }) => stem === word || opposites.get(stem) === word))
  const [first, last] = [tokens[Math.min(...at)], tokens[Math.max(...at)]]
  if (!first || !last) return []
  const near = tokens.slice(Math.max(0, Math.min(...at) - 3), Math.min(...at) + 1)
  const isNo = near.some(({ lower, stem }) => /^(?:no|not|without|never|don't)$/.test(lower) || opposites.has(stem))
  return [{ value: !isNo, start: first.start, end: last.end }]
}

/** The required parameters without a value. */
export function findMissing({ parameters }: DeclaredTool, values: ReadonlyMap<Parameter, unknown>): Parameter[] {
  return parameters.filter((one) => one.isRequired && !values.has(one))
}

/** Creates one call, and one more for each further value. */
export function createCalls(
  { name, parameters }: DeclaredTool,
  { values, furtherValues }: FilledArguments,
): FunctionCall[] {
  const others = furtherValues?.values.map((value) => new Map(values).set(furtherValues.parameter, value)) ?? []
  return [values, ...others].map((each) => {
    const args: JsonObject = {}
    for (const parameter of parameters) {
      const value = each.has(parameter) ? each.get(parameter) : parameter.fallback
      if (value !== undefined) setOwn(args, parameter.name, value)
    }
    return { name, args }
  })
}

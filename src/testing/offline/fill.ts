// The values of a tool's parameters, as far as a passage has them: choices, then what has a form, yes and no, then texts.
import { type JsonObject, setOwn } from '../../base/json.ts'
import { later, type Mention, type MentionKind, type Passage } from './mentions.ts'
import type { Declared, Kind, Parameter } from './parameters.ts'
import { type Filling, fillTexts } from './texts.ts'
import {
  determiners,
  isCloseSpelling,
  isContent,
  nameWords,
  type Span,
  speaksOf,
  stem,
  stemsOf,
  tokensOf,
} from './words.ts'

export interface Filled {
  readonly values: ReadonlyMap<Parameter, unknown>
  /** A parameter that a list was given for: one call for each further value. */
  readonly several: { readonly parameter: Parameter; readonly values: readonly unknown[] } | undefined
  readonly missing: readonly Parameter[]
  /** How many values were recognised by more than being left over. */
  readonly recognised: number
  /** How many things in the passage it has no use for. */
  readonly unused: number
}

interface Spot extends Span {
  readonly value: unknown
}

/** `isTold`: a statement; only what is recognised by itself counts, and a sentence may begin with a name. */
export function fill(tool: Declared, passage: Passage, isTold = false): Filled {
  const marks = new Uint8Array(passage.text.length)
  const values = new Map<Parameter, unknown>()
  const filling: Filling = {
    ...{ tool, passage, values },
    open: (test) => tool.parameters.filter((parameter) => !values.has(parameter) && test(parameter)),
    take: ({ start, end }) => void marks.fill(1, start, end),
    isFree: ({ start, end }) => !marks.subarray(start, end).some(Boolean),
  }
  const several = recognise(filling, isTold)
  const recognised = isTold ? values.size : fillTexts(filling)
  const isUnused = (one: Mention): boolean => !/^(?:phrase|quoted)$/.test(one.kind) && filling.isFree(one)
  const free = passage.mentions.filter((one) => isUnused(one) && one.value !== later(passage.now, 0))
  const unused = Math.max(0, free.length - (several?.values.length ?? 0))
  return { values, several, missing: missingOf(tool, values), recognised, unused }
}

function recognise(filling: Filling, isTold: boolean): Filled['several'] {
  const { passage, values, take, isFree } = filling
  let several: Filled['several']
  const assign = <T extends Span>(
    parameter: Parameter,
    first: T,
    all: readonly T[],
    made: (one: T) => unknown,
  ): void => {
    const run = runOf(first, all, filling)
    values.set(parameter, parameter.item ? run.map(made) : made(first))
    for (const one of parameter.item ? run : [first]) take(one)
    const more = parameter.item ? [] : run.filter(({ start }) => start > first.start).map(made)
    if (more.length) several ??= { parameter, values: more }
  }
  for (const parameter of filling.open(({ kind, item }) => (item?.kind ?? kind) === 'choice')) {
    const found = chosenIn((parameter.item ?? parameter).choices, filling)
    if (found[0]) assign(parameter, found[0], found, ({ value }) => value)
  }
  const open = filling.open(({ kind, item }) => (item?.kind ?? kind) !== 'choice')
  const pairs = open.flatMap((parameter, at) =>
    passage.mentions.map((mention) => {
      const score = worth(parameter, mention, filling, isTold) - at / 100 - mention.start / 1e6 // of equals the first
      return { parameter, mention, score }
    }),
  )
  for (const { parameter, mention } of pairs.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)) {
    if (values.has(parameter) || !isFree(mention)) continue
    const same = passage.mentions.filter((one) => one.kind === mention.kind && isFree(one))
    assign(parameter, mention, same, (one) => converted(parameter.item ?? parameter, one, filling))
  }
  for (const parameter of filling.open(({ kind }) => kind === 'boolean')) {
    const said = saidTo(parameter, passage)
    if (said) assign(parameter, said, [said], ({ value }) => value)
  }
  return several
}

/** What each kind of parameter can be made from, and how gladly. */
const fits: Partial<Record<Kind, Partial<Record<MentionKind, number>>>> = {
  number: { number: 3 },
  date: { date: 3 },
  time: { time: 3 },
  datetime: { date: 3, time: 2.5 },
  email: { email: 3 },
  url: { url: 3 },
  path: { path: 3, quoted: 2.5 },
  id: { id: 3, number: 2, quoted: 2.5, name: 1.5, phrase: 0.2 },
  place: { name: 3, quoted: 2.5, phrase: 1 },
  name: { name: 3, quoted: 2.5, email: 2, phrase: 0.5 },
}

/** Prepositions say which of several parameters a value is for. */
const roles: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    from: 'from source origin sender departure start',
    to: 'to target destination recipient end until contact email',
    into: 'to target language folder',
    in: 'city place location town country room region address state folder directory language currency',
    at: 'city place location address time start restaurant hotel',
    for: 'customer name person guest city place user date',
    with: 'attendee guest person contact name',
    by: 'artist author deadline due date',
    on: 'date day start',
    of: 'name city country place',
    about: 'subject topic city',
  }).map(([preposition, words]) => [preposition, stemsOf(words)]),
)

function isFor(preposition: string | undefined, { words }: Parameter): boolean {
  const meant = roles.get(preposition ?? '')
  return meant !== undefined && words.some((word) => meant.has(word) || word === preposition)
}

const counts = stemsOf('limit count max maximum quantity amount number size')
const seconds = new Map(Object.entries({ second: 1, minute: 60, hour: 3_600, day: 86_400, week: 604_800 }).map(([unit, size]) => [stem(unit), size])) // biome-ignore format: short

/** Not above zero when too little speaks for it: an optional number needs a word that says what it is. */
function worth(parameter: Parameter, mention: Mention, { tool, passage }: Filling, isTold: boolean): number {
  const { kind, words, schema } = parameter.item ?? parameter
  const { value, preposition, before, after, unit } = mention
  const fit = fits[kind]?.[mention.kind]
  if (fit === undefined || (schema.type === 'integer' && !Number.isInteger(value))) return 0
  const noun = before.find(isContent)
  const speaks = (word: string | undefined): boolean => word !== undefined && word !== '' && speaksOf(words, word)
  const isOwn = isFor(preposition, parameter)
  if (mention.kind === 'name' && !isTold && isMereWord(mention, tool, passage)) return 0
  if (mention.kind === 'name' && /^(?:called|named|titled)$/.test(before[0]?.lower ?? '')) return 0 // its text may be longer
  if (mention.kind === 'phrase' && !speaks(noun?.stem) && !isOwn) return 0
  if (kind === 'id' && mention.kind === 'name' && !/^[A-Z\d.]{2,10}$/.test(String(value))) return 0
  if (kind === 'id' && mention.kind === 'number' && unit && !speaks(noun?.stem)) return 0 // not the 12 of "12 apples"
  let score = fit + (speaks(before[0]?.stem) ? 2.5 : speaks(after?.stem) ? 2.2 : speaks(noun?.stem) ? 1.5 : 0)
  if (mention.kind === 'number') {
    const isOut =
      Number(value) < Number(schema.minimum ?? -Infinity) || Number(value) > Number(schema.maximum ?? Infinity)
    const isMeasure =
      unit === stem('percent') ? schema.maximum === 100 : seconds.has(unit) && words.some((word) => seconds.has(word))
    score += (isOut ? -1.5 : 0) + (isMeasure ? 2 : 0) + (preposition === 'to' ? 0.75 : 0)
  } else if (isOwn) score += 1.5
  else if (tool.parameters.some((other) => isFor(preposition, other))) score -= 1.5
  const isLoose = kind === 'number' && !words.some((word) => counts.has(word))
  return score < (parameter.isRequired ? 0.5 : isLoose ? 3.5 : 2) ? 0 : score + (parameter.isRequired ? 0.25 : 0)
}

/** "Weather" in capitals names the tool; the first word of a sentence is a name only when what follows says so. */
function isMereWord(
  { value, start, end, after }: Mention,
  { nameStems, weights }: Declared,
  { text }: Passage,
): boolean {
  const words = String(value).split(' ').map(stem)
  if (words.every((word) => (start === 0 ? weights.has(word) : nameStems.includes(word)))) return true
  const isFirst = words.length === 1 && /(?:^|[.!?\n])\s{0,9}$/.test(text.slice(Math.max(0, start - 10), start))
  return isFirst && after !== undefined && /\s/.test(text.charAt(end)) && isContent(after) && !weights.has(after.stem)
}

/** The value a mention becomes. */
function converted({ kind, schema, words }: Parameter, mention: Mention, { passage, take, isFree }: Filling): unknown {
  const { value, start, end } = mention
  if (kind === 'number') {
    const given = seconds.get(mention.unit) // "2 hours" for a parameter in minutes is 120
    const wanted = words.map((word) => seconds.get(word)).find((size) => size !== undefined)
    return given === undefined || wanted === undefined ? value : (Number(value) * given) / wanted
  }
  if (kind === 'datetime') {
    const isDate = mention.kind === 'date'
    const other = passage.mentions.find((one) => one.kind === (isDate ? 'time' : 'date') && isFree(one))
    if (other) take(other)
    const today = later(passage.now, !isDate && `${value}` < new Date(passage.now).toISOString().slice(11, 16) ? 1 : 0)
    return isDate ? `${value}T${other?.value ?? '00:00'}:00Z` : `${other?.value ?? today}T${value}:00Z`
  }
  if (kind === 'time' && schema.format === 'time') return `${value}:00`
  if (typeof value === 'number') return passage.text.slice(start, end)
  return kind === 'place' && mention.kind === 'phrase' ? inCapitals(value) : value
}

export const inCapitals = (text: string): string =>
  text.replace(/(?<![\p{L}\p{N}'’])\p{Ll}/gu, (letter) => letter.toUpperCase())

const separators = new Set('and or plus also then as well than with versus vs more less'.split(' '))

/** The spots that form a list with this one: "Oslo, Lima and Cairo", "in Oslo and in Lima", "Oslo warmer than Lima". */
function runOf<T extends Span>(one: T, all: readonly T[], { passage: { text, tokens }, tool }: Filling): T[] {
  const before = tokens.findLast(({ end, lower }) => end <= one.start && !determiners.has(lower))?.lower
  const areListed = (a: T | undefined, b: T | undefined): boolean => {
    const between = a && b && b.start > a.end && b.start - a.end < 60 ? text.slice(a.end, b.start) : ''
    if (!/[,&\n]|\b(?:and|or|plus|than|with|versus|vs)\b/i.test(between) || /[;!?:]|\.\s/.test(between)) return false
    const isGlue = (stem: string): boolean => speaksOf(tool.nameStems, stem) || /er\s+than\b/.test(between)
    return tokensOf(between).every(({ lower, stem }) => separators.has(lower) || determiners.has(lower) || lower === before || isGlue(stem)) // biome-ignore format: short
  }
  let [first, last] = [all.indexOf(one), all.indexOf(one)]
  while (areListed(all[last], all[last + 1])) last++
  while (areListed(all[first - 1], all[first])) first--
  return all.slice(first, last + 1)
}

/** What people say for values programs use. */
const alsoSaid = new Map(
  Object.entries({ time: 'multipli', plu: 'add', minu: 'subtract', divid: 'divid', import: 'high' }),
)

/** The choices a passage names, in its order: as they are written, else nearly so. */
function chosenIn(choices: readonly unknown[], { passage: { tokens, mentions }, isFree }: Filling): Spot[] {
  const all = choices.map((value) => ({ value, words: nameWords(String(value)).map(stem) }))
  const isHere = (words: readonly string[], at: number): boolean =>
    words.every((word, ahead) => tokens[at + ahead]?.stem === word)
  const exact = tokens.flatMap(({ start }, at) => {
    const [longest] = all
      .filter(({ words }) => words.length && isHere(words, at))
      .sort((a, b) => b.words.length - a.words.length)
    return longest ? [{ value: longest.value, start, end: tokens[at + longest.words.length - 1]?.end ?? start }] : []
  })
  const alike = tokens.slice(0, 100).flatMap(({ lower, stem, start, end }) => {
    const meant = all.find(
      ({ value, words }) => alsoSaid.get(stem) === words.join('') || isCloseSpelling(lower, String(value)),
    )
    return meant ? [{ value: meant.value, start, end }] : []
  })
  const numbers = mentions.filter(({ value }) => typeof value === 'number' && choices.includes(value))
  const found = [exact, numbers, alike].map((some) => some.filter(isFree)).find((some) => some.length) ?? []
  return [...new Map(found.toReversed().map((one) => [one.value, one])).values()].reverse()
}

/** Words that say yes and no by themselves, and the parameters they are about. */
const switches = [['on enabled active', 'on enable start dim', 'off disable stop'], ['locked lock', 'lock', 'unlock'], ['open', 'open', 'close']].map((words) => words.map(stemsOf)) // biome-ignore format: a table

/** Whether the passage says yes or no to it, and where; undefined when it does not speak of it. */
function saidTo({ words }: Parameter, { tokens }: Passage): Spot | undefined {
  const [, yes, no] = switches.find(([about]) => words.some((word) => about?.has(word))) ?? []
  const at = tokens.findIndex(({ stem }) => yes?.has(stem) || no?.has(stem))
  const found = at >= 0 ? [at] : words.map((word) => tokens.findIndex(({ stem }) => stem === word))
  if (found.length === 0 || found.includes(-1)) return undefined
  const [from, to] = [Math.min(...found), Math.max(...found)]
  const isNegated = tokens
    .slice(Math.max(0, from - 3), from)
    .some(({ lower }) => /^(?:no|not|without|never|don't)$/.test(lower))
  const isYes = !no?.has(tokens[at]?.stem ?? '')
  return { value: isYes !== isNegated, start: tokens[from]?.start ?? 0, end: tokens[to]?.end ?? 0 }
}

/** What a call is not possible without. */
export function missingOf({ parameters }: Declared, values: ReadonlyMap<Parameter, unknown>): Parameter[] {
  return parameters.filter((one) => one.isRequired && !values.has(one) && givenFor(one) === undefined)
}

/** What must be there and leaves no choice, or is a yes nobody said. */
function givenFor({ kind, choices, isRequired }: Parameter): unknown {
  return !isRequired ? undefined : kind === 'boolean' ? false : choices.length === 1 ? choices[0] : undefined
}

/** The arguments of each call. */
export function argumentsOf(
  { parameters }: Declared,
  { values, several }: Pick<Filled, 'values' | 'several'>,
): JsonObject[] {
  const others = several?.values.map((value) => new Map(values).set(several.parameter, value)) ?? []
  return [values, ...others].map((each) => {
    const args: JsonObject = {}
    for (const parameter of parameters) {
      const value = each.has(parameter) ? each.get(parameter) : givenFor(parameter)
      if (value !== undefined) setOwn(args, parameter.name, value)
    }
    return args
  })
}

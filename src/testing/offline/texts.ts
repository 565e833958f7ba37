// The parameters that take any text, after all the others have taken what is theirs.
import type { Passage } from './mentions.ts'
import type { Declared, Parameter } from './parameters.ts'
import {
  determiners,
  isContent,
  looking,
  prepositions,
  type Span,
  speaksOf,
  stemsOf,
  stopWords,
  type Token,
} from './words.ts'

/** The arguments of a call while they are being found. */
export interface Filling {
  readonly tool: Declared
  readonly passage: Passage
  readonly values: Map<Parameter, unknown>
  open(test: (parameter: Parameter) => boolean): Parameter[]
  take(span: Span): void
  isFree(span: Span): boolean
}

const bodies = stemsOf('body message text content note comment reply description fact')
const titles = stemsOf('subject title topic name label summary')
const isOf = (group: ReadonlySet<string>, { words }: Parameter): boolean => words.some((word) => group.has(word))
const isBody = (parameter: Parameter): boolean => isOf(bodies, parameter)

const phraseEnd = '(?=[.!?,;:\\n]|\\s+(?:saying|says|with|and|titled|called|because)\\s|$)'
/** How texts are announced: "an email about lunch saying hello". */
const announcing: readonly (readonly [about: ReadonlySet<string>, pattern: RegExp])[] = [
  [bodies, /\b(?:saying|says|say|that)(?: that)? ([^\n]+)/i],
  [titles, new RegExp(`\\b(?:about|regarding|titled|called|named) ([^\\n]{1,200}?)${phraseEnd}`, 'i')],
  [
    stemsOf('query search topic'),
    new RegExp(`\\b(?:about|for) ([^\\n]{1,200}?)(?= on the |${phraseEnd.slice(3)}`, 'i'),
  ],
  [stemsOf('reason cause'), /\bbecause ([^\n]+)/i],
]

/** Fills what is marked as a text, then what is left over; tells how many values there were before the latter. */
export function fillTexts(filling: Filling): number {
  const { passage, tool, values } = filling
  const texts = (): Parameter[] => filling.open(({ kind, item }) => /^(?:text|name)$/.test(item?.kind ?? kind))
  const needed = (): Parameter[] => texts().filter(({ isRequired }) => isRequired)
  for (const parameter of texts()) set(filling, parameter, announced(parameter, passage))
  const quoted = passage.mentions.filter((one) => one.kind === 'quoted' && filling.isFree(one))
  for (const parameter of new Set([...needed(), ...texts()])) set(filling, parameter, quoted.shift())
  const colon = /:\s+(?=\S)/.exec(passage.text)
  const told = needed().find(isBody) ?? needed()[0]
  if (told && colon) set(filling, told, { start: colon.index + colon[0].length, end: passage.text.trimEnd().length })
  const recognised = values.size
  // an agent that is asked as a tool hears all of it
  for (const one of filling.open(({ kind, isRequired }) => kind === 'request' && isRequired))
    values.set(one, passage.text.trim())
  const rest = needed().find((one) => !isOf(titles, one)) ?? (tool.parameters.some(isBody) ? undefined : needed()[0])
  if (rest) set(filling, rest, leftOver(filling))
  const body = tool.parameters.find((one) => isBody(one) && values.has(one))
  const title = String(values.get(body as Parameter))
    .split(/\s+/)
    .slice(0, 6)
    .join(' ')
  if (body) for (const one of needed()) if (isOf(titles, one)) values.set(one, title) // a letter is called by how it begins
  return recognised
}

function set({ passage, take, isFree, values }: Filling, parameter: Parameter, span: Span | undefined): void {
  if (!span || !isFree(span)) return
  take(span)
  const text = passage.text.slice(span.start, span.end).replace(/^["'“`]([\s\S]*)["'”`]$/, '$1')
  const items = text
    .split(/\s*[,;\n]\s*(?:and\s+)?|\s+(?:and|&)\s+/)
    .map((item) => item.replace(/^(?:an?|the|some|my)\s+/i, ''))
  values.set(
    parameter,
    parameter.item ? items.filter((item) => item !== '' && !stopWords.has(item.toLowerCase())) : text,
  )
}

/** The text behind a word that announces it, or behind the name of the parameter: "subject: Lunch", "with title Lunch". */
function announced(parameter: Parameter, { text, mentions }: Passage): Span | undefined {
  const name = parameter.name.replace(/[^\p{L}\p{N}]+/gu, ' ').slice(0, 40)
  const named = new RegExp(
    `\\b(?:with|and|the)?(?: an?| the)? ?${name} ?[:=]? ?(?:is |of )?([^\\n]{1,1000}?)${phraseEnd}`,
    'i',
  )
  const isNamed = new RegExp(
    `\\b(?:with|and)(?: an?| the)? ${name}\\b|\\b${name} ?[:=]|\\bthe ${name} \\p{L}`,
    'iu',
  ).test(text)
  for (const pattern of [
    ...(isNamed ? [named] : []),
    ...announcing.flatMap(([about, one]) => (isOf(about, parameter) ? [one] : [])),
  ]) {
    const found = pattern.exec(text)
    const inner = found?.[1]?.replace(/[.!]+$/, '').trim()
    if (!found || !inner) continue
    const start = text.indexOf(inner, found.index + found[0].indexOf(found[1] ?? ''))
    return mentions.find((one) => one.kind === 'quoted' && one.start === start) ?? { start, end: start + inner.length }
  }
  return undefined
}

/** The longest stretch that is nobody's argument, without words that only ask for the tool. */
function leftOver({ passage: { tokens, text }, tool, isFree }: Filling): Span | undefined {
  const frame = [...tool.nameStems, ...tool.parameters.flatMap(({ words }) => words)]
  const isFrame = (token: Token): boolean =>
    !isContent(token) || speaksOf(frame, token.stem) || (token.start === 0 && looking.has(token.stem))
  const isJoined = (a: Token, b: Token | undefined): boolean =>
    b !== undefined && isFree({ start: a.start, end: b.end }) && !/[.;!?\n]\s|\n/.test(text.slice(a.end, b.start))
  let best: Token[] = []
  for (let from = 0, last = 0; from < tokens.length; from = ++last) {
    while (isJoined(tokens[last] as Token, tokens[last + 1])) last++
    const stretch = isFree(tokens[from] as Token) ? tokens.slice(from, last + 1) : []
    const start = stretch.findIndex((token) => !isFrame(token))
    const words = start < 0 ? [] : trimmed(stretch.slice(start), tool)
    if (words.filter(isContent).length > best.filter(isContent).length) best = words
  }
  const [first, last] = [best[0], best.at(-1)]
  return first && last && { start: first.start, end: last.end }
}

const isSmall = ({ lower }: Token): boolean =>
  prepositions.has(lower) || determiners.has(lower) || /^(?:up|please|me|us|now|and|or|then|it|them)$/.test(lower)

/** Without small words at either end, and without a last phrase that speaks of the tool: "to my shopping list". */
function trimmed(words: readonly Token[], tool: Declared): Token[] {
  const kept = words.slice(
    words.findIndex((token) => !isSmall(token)),
    words.findLastIndex((token) => !isSmall(token)) + 1,
  )
  const phrase = kept.findLastIndex(({ lower }) => prepositions.has(lower))
  const isOfTool = phrase > 0 && kept.length - phrase <= 4 && tool.weights.has(kept.at(-1)?.stem ?? '')
  return isOfTool ? kept.slice(0, phrase) : kept
}

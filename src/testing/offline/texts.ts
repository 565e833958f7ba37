// The parameters that take any text, after all the others have taken what is theirs.
import type { Passage } from './mentions.ts'
import type { Declared, Parameter } from './parameters.ts'
import { determiners, isContent, looking, prepositions, type Span, speaksOf, stemsOf, type Token } from './words.ts'

/** The arguments of a call while they are being found. */
export interface Filling {
  readonly tool: Declared
  readonly passage: Passage
  readonly values: Map<Parameter, unknown>
  take(span: Span): void
  isFree(span: Span): boolean
}

const bodies = stemsOf('body message text content note comment reply description fact')
const titles = stemsOf('subject title topic name label summary')
const isOf = (group: ReadonlySet<string>, { words }: Parameter): boolean => words.some((word) => group.has(word))
const isBody = (parameter: Parameter): boolean => isOf(bodies, parameter)

const end = '(?=[.!?,;:\\n]|\\s+(?:saying|says|with|and|titled|called|because)\\s|$)'
/** How texts are announced: "an email about lunch saying hello". */
const announcing: readonly (readonly [about: ReadonlySet<string>, pattern: RegExp])[] = [
  [bodies, /\b(?:saying|says|that)(?: that)? ([^\n]+)/i],
  [titles, new RegExp(`\\b(?:about|regarding|titled|called|named) ([^\\n]{1,200}?)(?= on |${end.slice(3)}`, 'i')],
  [stemsOf('query search'), new RegExp(`\\b(?:about|for) ([^\\n]{1,200}?)(?= on the |${end.slice(3)}`, 'i')],
  [stemsOf('reason cause'), /\bbecause ([^\n]+)/i],
]

/** Fills what is marked as a text, then what is left over; tells how many values there were before the latter. */
export function fillTexts(filling: Filling): number {
  const { passage, tool, values, isFree } = filling
  const open = (kinds: RegExp): Parameter[] =>
    tool.parameters.filter((one) => !values.has(one) && kinds.test(one.item?.kind ?? one.kind))
  const texts = (): Parameter[] => open(/^(?:text|name)$/).sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
  const needed = (): Parameter[] => texts().filter(({ isRequired }) => isRequired)
  for (const parameter of texts()) set(filling, parameter, announced(parameter, passage))
  const quoted = passage.mentions.filter((one) => one.kind === 'quoted' && isFree(one))
  for (const parameter of texts()) set(filling, parameter, quoted.shift())
  const colon = /:\s+(?=\S)/.exec(passage.text)
  const told = needed().find(isBody) ?? needed()[0]
  if (told && colon) set(filling, told, { start: colon.index + colon[0].length, end: passage.text.trimEnd().length })
  const recognised = values.size
  // an agent that is asked as a tool hears all of it
  for (const one of open(/^request$/)) if (one.isRequired) values.set(one, passage.text.trim())
  const rest = needed().find((one) => !isOf(titles, one)) ?? (tool.parameters.some(isBody) ? undefined : needed()[0])
  if (rest) set(filling, rest, leftOver(filling))
  const [body] = [...values].flatMap(([one, value]) => (isBody(one) ? [String(value)] : []))
  // a letter without a subject is called by how it begins
  if (body) for (const one of needed()) if (isOf(titles, one)) values.set(one, body.split(/\s+/).slice(0, 6).join(' '))
  return recognised
}

function set({ passage, take, isFree, values }: Filling, parameter: Parameter, span: Span | undefined): void {
  if (!span || !isFree(span)) return
  take(span)
  const text = passage.text.slice(span.start, span.end).replace(/^["'“`]([\s\S]*)["'”`]$/, '$1')
  const items = text
    .split(/\s*[,;\n]\s*(?:and\s+)?|\s+(?:and|&)\s+/)
    .map((item) => item.replace(/^(?:an?|the|some|my)\s+/i, ''))
  values.set(parameter, parameter.item ? items.filter(Boolean) : text)
}

/** The text behind a word that announces it, or behind the name of the parameter: "subject: Lunch", "with title Lunch". */
function announced(parameter: Parameter, { text, mentions }: Passage): Span | undefined {
  const name = parameter.name.replace(/[^\p{L}\p{N}]+/gu, ' ').slice(0, 40)
  const patterns = announcing.flatMap(([about, one]) => (isOf(about, parameter) ? [one] : []))
  if (name !== '' && text.toLowerCase().includes(name.toLowerCase()))
    patterns.unshift(
      new RegExp(`\\b(?:(?:with|and)(?: an?| the)? ${name}|${name} ?[:=]) ?([^\\n]{1,1000}?)${end}`, 'i'),
    )
  for (const pattern of patterns) {
    const found = pattern.exec(text)
    const inner = found?.[1]?.replace(/[.!]+$/, '').trim()
    if (!found || !inner) continue
    const start = text.indexOf(inner, found.index + found[0].length - (found[1]?.length ?? 0))
    return mentions.find((one) => one.kind === 'quoted' && one.start === start) ?? { start, end: start + inner.length }
  }
  return undefined
}

const isSmall = ({ lower }: Token): boolean =>
  prepositions.has(lower) || determiners.has(lower) || /^(?:up|please|me|us|now|and|or|then|it|them)$/.test(lower)

/** The longest stretch that is nobody's argument, without words that only ask for the tool. */
function leftOver({ passage: { tokens, text }, tool, isFree }: Filling): Span | undefined {
  const frame = [...tool.nameStems, ...tool.parameters.flatMap(({ words }) => words)]
  const isFrame = (one: Token): boolean =>
    !isContent(one) || speaksOf(frame, one.stem) || (one.start === 0 && looking.has(one.stem))
  let best: readonly Token[] = []
  for (let from = 0, next = 1; from < tokens.length; from = next++) {
    const isJoined = ({ start }: Token): boolean =>
      isFree({ start: tokens[next - 1]?.start ?? 0, end: start + 1 }) &&
      !/[.;!?\n]\s|\n/.test(text.slice(tokens[next - 1]?.end, start))
    while (tokens[next] && isJoined(tokens[next] as Token)) next++
    const stretch = isFree(tokens[from] as Token) ? tokens.slice(from, next) : []
    const first = stretch.findIndex((token) => !isFrame(token) && !isSmall(token))
    const words = first < 0 ? [] : stretch.slice(first, stretch.findLastIndex((token) => !isSmall(token)) + 1)
    const phrase = words.findLastIndex(({ lower }) => prepositions.has(lower)) // "to my shopping list" speaks of the tool
    const isOfTool = phrase > 0 && words.length - phrase <= 4 && tool.weights.has(words.at(-1)?.stem ?? '')
    const kept = isOfTool ? words.slice(0, phrase) : words
    if (kept.filter(isContent).length > best.filter(isContent).length) best = kept
  }
  const [first, last] = [best[0], best.at(-1)]
  return first && last && { start: first.start, end: last.end }
}

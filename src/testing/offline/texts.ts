// The parameters that take any text, after all the others have taken what is theirs.
import type { Passage } from './mentions.ts'
import type { Declared, Parameter } from './parameters.ts'
import { determiners, isContent, looking, prepositions, type Span, speaksOf, type Token } from './words.ts'

/** The arguments of a call while they are being found. */
export interface Filling {
  readonly tool: Declared
  readonly passage: Passage
  readonly values: Map<Parameter, unknown>
  take(span: Span): void
  isFree(span: Span): boolean
}

/** What stands behind a colon, else what is left over; tells how many values there were before the latter. */
export function fillTexts(filling: Filling): number {
  const { passage, tool, values, take, isFree } = filling
  const open = (kinds: RegExp): Parameter[] =>
    tool.parameters.filter((one) => one.isRequired && !values.has(one) && kinds.test(one.kind))
  const [text] = open(/^(?:text|name)$/)
  const colon = text && /:\s+(?=\S)/.exec(passage.text)
  const behind = colon && { start: colon.index + colon[0].length, end: passage.text.trimEnd().length }
  const told = behind && isFree(behind) ? behind : undefined
  const recognised = values.size + (told ? 1 : 0)
  const span = text && (told ?? leftOver(filling))
  if (text && span) values.set(text, passage.text.slice(span.start, span.end))
  if (span) take(span)
  // an agent that is asked as a tool hears all of it
  for (const one of open(/^request$/)) values.set(one, passage.text.trim())
  return recognised
}

const isSmall = ({ lower }: Token): boolean =>
  prepositions.has(lower) || determiners.has(lower) || /^(?:up|please|me|us|now|and|or|then|it|them)$/.test(lower)

/** The longest stretch that is nobody's argument, without words that only ask for the tool. */
function leftOver({ passage: { tokens }, tool, isFree }: Filling): Span | undefined {
  const frame = [...tool.nameStems, ...tool.parameters.flatMap(({ words }) => words)]
  const isFrame = (one: Token): boolean =>
    !isContent(one) || speaksOf(frame, one.stem) || (one.start === 0 && looking.has(one.stem))
  const stretches: Token[][] = [[]]
  for (const [at, token] of tokens.entries()) {
    const from = tokens[at - 1]?.end ?? 0
    if (!isFree({ start: from, end: token.end })) stretches.push([])
    if (isFree(token)) stretches.at(-1)?.push(token)
  }
  let best: readonly Token[] = []
  for (const stretch of stretches) {
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

// Fills the parameters that take free text, after all other parameters.

import type { DeclaredTool, Parameter } from './declared-tool.ts'
import type { Passage } from './passage.ts'
import {
  determiners,
  includesSynonym,
  isContentWord,
  lookupVerbs,
  prepositions,
  type Span,
  type Token,
} from './words.ts'

/** The state of filling the arguments of one call. */
export interface FillState {
  /** The tool. */
  readonly tool: DeclaredTool
  /** The text with the arguments. */
  readonly passage: Passage
  /** Values found so far. */
  readonly values: Map<Parameter, unknown>
  /** Marks a span as part of an argument. */
  markUsed(span: Span): void
  /** No argument uses the span. */
  isUnused(span: Span): boolean
}

/** Fills text parameters with the text after a colon, else with unused text. Returns the number of recognised values. */
export function fillTextArguments(state: FillState): number {
  const { passage, tool, values, markUsed, isUnused } = state
  const open = (kinds: RegExp): Parameter[] =>
    tool.parameters.filter((one) => one.isRequired && !values.has(one) && kinds.test(one.kind))
  const [text] = open(/^(?:text|name)$/)
  const colon = text && /:\s+(?=\S)/.exec(passage.text)
  const behind = colon && { start: colon.index + colon[0].length, end: passage.text.trimEnd().length }
  const afterColon = behind && isUnused(behind) ? behind : undefined
  const recognisedCount = values.size + (afterColon ? 1 : 0)
  const span = text && (afterColon ?? findUnusedText(state))
  if (text && span) values.set(text, passage.text.slice(span.start, span.end))
  if (span) markUsed(span)
  // an agent tool receives the whole passage
  for (const one of open(/^request$/)) values.set(one, passage.text.trim())
  return recognisedCount
}

const isFillerWord = ({ lower }: Token): boolean =>
  prepositions.has(lower) || determiners.has(lower) || /^(?:up|please|me|us|now|and|or|then|it|them)$/.test(lower)

/** The longest unused span, without the words that name the tool. */
function findUnusedText({ passage: { tokens }, tool, isUnused }: FillState): Span | undefined {
  const frame = [...tool.nameStems, ...tool.parameters.flatMap(({ words }) => words)]
  const isFrame = (one: Token): boolean =>
    !isContentWord(one) || includesSynonym(frame, one.stem) || (one.start === 0 && lookupVerbs.has(one.stem))
  const stretches: Token[][] = [[]]
  for (const [at, token] of tokens.entries()) {
    const from = tokens[at - 1]?.end ?? 0
    if (!isUnused({ start: from, end: token.end })) stretches.push([])
    if (isUnused(token)) stretches.at(-1)?.push(token)
  }
  let best: readonly Token[] = []
  for (const stretch of stretches) {
    const first = stretch.findIndex((token) => !isFrame(token) && !isFillerWord(token))
    const words = first < 0 ? [] : stretch.slice(first, stretch.findLastIndex((token) => !isFillerWord(token)) + 1)
    const phrase = words.findLastIndex(({ lower }) => prepositions.has(lower)) // e.g. "to my shopping list" describes the tool
    const isOfTool = phrase > 0 && words.length - phrase <= 4 && tool.weights.has(words.at(-1)?.stem ?? '')
    const kept = isOfTool ? words.slice(0, phrase) : words
    if (kept.filter(isContentWord).length > best.filter(isContentWord).length) best = kept
  }
  const [first, last] = [best[0], best.at(-1)]
  return first && last && { start: first.start, end: last.end }
}

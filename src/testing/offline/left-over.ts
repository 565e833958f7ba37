// Texts that nothing marks: what remains of a passage when everything else is explained.
import { speaksOf } from './affinity.ts'
import type { Filling } from './filling.ts'
import type { Taken } from './passage.ts'
import { looking } from './verbs.ts'
import { determiners, isContent, prepositions, stopWords, type Token } from './words.ts'

export interface Span {
  readonly start: number
  readonly end: number
}

/** The longest stretch that is nobody's argument, without words that only ask for the tool, `frame` among them. */
export function leftOver({ passage, taken, tool }: Filling, frame: readonly string[]): Span | undefined {
  const { tokens, text } = passage
  const isFrame = (token: Token): boolean =>
    !isContent(token) || speaksOf(frame, token.stem) || (token.start === 0 && looking.has(token.stem))
  let best: { span: Span; size: number } | undefined
  for (let from = 0, last = 0; from < tokens.length; from = ++last) {
    while (isOneStretch(tokens[last], tokens[last + 1], text, taken)) last++
    if (!taken.isFree(tokens[from] as Token)) continue
    const start = skipWhile(isFrame, from, last, tokens)
    // a text of small words only, "thank you", is still a text
    const isSmall = ({ stem, lower }: Token): boolean => frame.includes(stem) || joining.has(lower)
    const words = tokens.slice(start > last ? skipWhile(isSmall, from, last, tokens) : start, last + 1)
    const span = trimmed(words, (stem) => tool.weights.has(stem))
    const size = span ? words.filter((word) => word.end <= span.end && isContent(word)).length + 0.5 : 0
    if (span && size > (best?.size ?? 0)) best = { span, size }
  }
  return best?.span
}

function isOneStretch(a: Token | undefined, b: Token | undefined, text: string, taken: Taken): boolean {
  if (!a || !b || !taken.isFree({ start: a.start, end: b.end })) return false
  return !/[.;!?\n]\s|\n/.test(text.slice(a.end, b.start))
}

function skipWhile(test: (token: Token) => boolean, from: number, last: number, tokens: readonly Token[]): number {
  let at = from
  while (at <= last && test(tokens[at] as Token)) at++
  return at
}

const joining = new Set(['and', 'then', 'also', 'please', ...prepositions])
const leading = new Set([...prepositions, 'a', 'an', 'the', 'some', 'up', 'out'])
const trailing = new Set([
  ...prepositions,
  'a',
  'an',
  'the',
  'my',
  'please',
  'thanks',
  'me',
  'us',
  'now',
  'and',
  'or',
  'then',
])

const pointing = new Set([...determiners, 'it', 'them', 'one', 'him', 'her'])

/** Without small words at either end, and without a last phrase that speaks of the tool: "to my shopping list". */
export function trimmed(words: readonly Token[], isOfTool: (stem: string) => boolean): Span | undefined {
  const kept = [...words]
  while (kept.length && leading.has(kept[0]?.lower ?? '')) kept.shift()
  const dropTrailing = (): void => {
    while (kept.length && trailing.has(kept.at(-1)?.lower ?? '')) kept.pop()
  }
  dropTrailing()
  const phrase = kept.findLastIndex(({ lower }) => prepositions.has(lower))
  if (phrase > 0 && kept.length - phrase <= 4 && isOfTool(kept.at(-1)?.stem ?? '')) kept.splice(phrase)
  dropTrailing()
  const [start, end] = [kept[0]?.start, kept.at(-1)?.end]
  if (kept.every(({ lower }) => pointing.has(lower))) return undefined
  return start === undefined || end === undefined ? undefined : { start, end }
}

/** "milk, eggs and bread" as three. */
export function itemsIn(text: string): string[] {
  return text
    .split(/\s*[,;\n]\s*(?:and\s+)?|\s+(?:and|&)\s+/)
    .map((item) => item.replace(/^(?:an?|the|some|my)\s+/i, '').trim())
    .filter((item) => item !== '' && !stopWords.has(item.toLowerCase()))
}

// Values that stand in a list: "Oslo, Lima and Cairo".
import { type Passage, prepositionBefore } from './passage.ts'
import { determiners, type Token, tokensOf } from './words.ts'

interface Spot {
  readonly start: number
  readonly end: number
}

/** The spots that form a list with this one, itself included, in the order of the text. */
export function runOf<T extends Spot>(
  one: T,
  all: readonly T[],
  passage: Passage,
  isGlue: (stem: string) => boolean,
): T[] {
  const run = [one]
  const at = all.indexOf(one)
  const preposition = prepositionBefore(one.start, passage) // "in Oslo and in Lima"
  const joins = (a: T, b: T): boolean =>
    areListed(a, b, passage, (token) => isGlue(token.stem) || token.lower === preposition)
  for (let next = at + 1; next < all.length && joins(all[next - 1] as T, all[next] as T); next++)
    run.push(all[next] as T)
  for (let next = at - 1; next >= 0 && joins(all[next] as T, all[next + 1] as T); next--) run.unshift(all[next] as T)
  return run
}

const separators = new Set(['and', 'or', 'plus', 'also', 'then', 'as', 'well'])

function areListed(a: Spot, b: Spot, { text }: Passage, isGlue: (token: Token) => boolean): boolean {
  if (b.start <= a.end || b.start - a.end > 60) return false
  const between = text.slice(a.end, b.start)
  if (!/[,&\n]|\b(?:and|or|plus|as well as)\b/i.test(between) || /[.;!?:]/.test(between)) return false
  return tokensOf(between).every(
    (token) => separators.has(token.lower) || determiners.has(token.lower) || isGlue(token),
  )
}

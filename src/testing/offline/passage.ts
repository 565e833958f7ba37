// A piece of the message with everything that was found in it.
import type { Mention } from './mention.ts'
import { mentionsIn } from './mentions.ts'
import { determiners, prepositions, type Token, tokensOf } from './words.ts'

/** A mention and what stands around it. */
export interface Placed extends Mention {
  /** Up to three words before it, the nearest first, none that belongs to another mention. */
  readonly before: readonly Token[]
  readonly after: readonly Token[]
  /** The preposition it depends on. */
  readonly preposition: string | undefined
  /** "50 dollars", "10 km": it says what a number counts. */
  readonly isOfAmount: boolean
}

export interface Passage {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly mentions: readonly Placed[]
}

export function passageOf(text: string, today: number): Passage {
  const tokens = tokensOf(text)
  const mentions = mentionsIn(text, today)
  const solid = mentions.filter(({ kind }) => kind !== 'phrase' && kind !== 'expression' && kind !== 'name')
  const isFree = ({ start }: Token): boolean => !solid.some((one) => one.start <= start && start < one.end)
  return {
    text,
    tokens,
    mentions: mentions.map((mention) => placed(mention, tokens, isFree, isAfterNumber(mention.start, mentions))),
  }
}

const NEAR = 3

function placed(
  mention: Mention,
  tokens: readonly Token[],
  isFree: (token: Token) => boolean,
  isOfAmount: boolean,
): Placed {
  const first = firstFrom(tokens, mention.start)
  const next = firstFrom(tokens, mention.end)
  const before = whileFree(tokens.slice(Math.max(0, first - NEAR), first).reverse(), isFree)
  const after = whileFree(tokens.slice(next, next + NEAR), isFree)
  return { ...mention, before, after, preposition: prepositionIn(before), isOfAmount }
}

/** Does a number end here? */
export function isAfterNumber(start: number, mentions: readonly Mention[]): boolean {
  return mentions.some(({ kind, end }) => kind === 'number' && end <= start && start - end <= 1)
}

/** The preposition right before a place in the text. */
export function prepositionBefore(start: number, { tokens }: Pick<Passage, 'tokens'>): string | undefined {
  const before = tokens.findLast((token) => token.end <= start && !determiners.has(token.lower))
  return before && prepositions.has(before.lower) ? before.lower : undefined
}

/** The nearest one, when only determiners, or one noun as in "to room 12", stand between. */
function prepositionIn(before: readonly Token[]): string | undefined {
  let nouns = 0
  for (const { lower } of before) {
    if (prepositions.has(lower)) return lower
    if (!determiners.has(lower) && nouns++ > 0) return undefined
  }
  return undefined
}

function whileFree(tokens: readonly Token[], isFree: (token: Token) => boolean): readonly Token[] {
  const end = tokens.findIndex((token) => !isFree(token))
  return end < 0 ? tokens : tokens.slice(0, end)
}

/** The index of the first token that starts at or after a position. */
function firstFrom(tokens: readonly Token[], position: number): number {
  let low = 0
  let high = tokens.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tokens[middle]?.start ?? 0) < position) low = middle + 1
    else high = middle
  }
  return low
}

/** Which parts of a passage have become arguments already. */
export class Taken {
  readonly #marks: Uint8Array
  constructor({ text }: Passage) {
    this.#marks = new Uint8Array(text.length)
  }
  take({ start, end }: { readonly start: number; readonly end: number }): void {
    this.#marks.fill(1, start, end)
  }
  isFree({ start, end }: { readonly start: number; readonly end: number }): boolean {
    return !this.#marks.subarray(start, end).some(Boolean)
  }
}

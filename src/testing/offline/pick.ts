// Which tool a passage asks for.
import type { Declared } from './declared.ts'
import { type Filled, fill } from './fill.ts'
import type { MentionKind } from './mention.ts'
import { isAllowed, moodFor } from './mood.ts'
import type { Passage } from './passage.ts'
import type { Vocabulary } from './vocabulary.ts'
import { isContent, stem, type Token } from './words.ts'

export interface Candidate {
  readonly tool: Declared
  readonly filled: Filled
  /** What its words are worth. */
  readonly words: number
  /** That, and how well the arguments go. */
  readonly score: number
}

/** Less than this is chance. */
export const ENOUGH = 0.6

const CLOSER_LOOK = 8
const FIRST_WORD = 1.5
const RECOGNISED = 0.7
const MISSING = 1.2
const UNUSED = 1

/** Tools the words speak for, the best first. */
export function candidates(
  tools: readonly Declared[],
  passage: Passage,
  vocabulary: Vocabulary,
  now: number,
): Candidate[] {
  const terms = termsOf(passage, vocabulary)
  return tools
    .map((tool) => ({ tool, words: wordsFor(tool, terms, vocabulary) }))
    .filter(({ tool, words }) => words >= ENOUGH && isAllowed(tool.name, passage))
    .sort((a, b) => b.words - a.words)
    .slice(0, CLOSER_LOOK)
    .map(({ tool, words }) => {
      const filled = fill(tool, passage, now)
      const well = Math.min(filled.recognised, 4) * RECOGNISED + moodFor(tool.name, passage)
      const ill = Math.min(filled.missing.length, 4) * MISSING + Math.min(filled.unused, 3) * UNUSED
      return { tool, words, filled, score: words + well - ill }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
}

/** A word of the message and how much it counts. */
export interface Term {
  readonly stem: string
  readonly weight: number
}

/** What some things say by being there: sums ask for a calculator. */
const implied: Partial<Record<MentionKind, string>> = {
  expression: stem('calculate'),
  currency: stem('currency'),
  language: stem('language'),
  email: stem('email'),
  phone: stem('phone'),
  url: stem('url'),
  path: stem('file'),
}
const silent: ReadonlySet<MentionKind> = new Set<MentionKind>([
  'quoted',
  'url',
  'email',
  'path',
  'id',
  'tag',
  'date',
  'datetime',
])
const MAX_TERMS = 300
const IMPLIED = 0.8

/** The words of a passage that mean something, each once, the first of them counting most. */
export function termsOf({ tokens, mentions }: Passage, vocabulary: Vocabulary): Term[] {
  const terms = new Map<string, number>()
  const hidden = mentions.filter(({ kind }) => silent.has(kind))
  const isHidden = ({ start }: Token): boolean => hidden.some((one) => one.start <= start && start < one.end)
  for (const token of tokens.filter(isContent).slice(0, MAX_TERMS)) {
    if (isHidden(token)) continue
    const known = vocabulary.knows(token.stem) ? { stem: token.stem, trust: 1 } : vocabulary.closest(token.stem)
    const weight = (terms.size === 0 ? FIRST_WORD : 1) * (known?.trust ?? 1)
    terms.set(known?.stem ?? token.stem, Math.max(weight, terms.get(known?.stem ?? token.stem) ?? 0))
  }
  for (const { kind } of mentions) {
    const stem = implied[kind]
    if (stem !== undefined && !terms.has(stem)) terms.set(stem, IMPLIED)
  }
  return [...terms].map(([stem, weight]) => ({ stem, weight }))
}

export function wordsFor(tool: Declared, terms: readonly Term[], vocabulary: Vocabulary): number {
  let sum = 0
  for (const { stem, weight } of terms) sum += vocabulary.weigh(tool, stem) * weight
  return sum
}

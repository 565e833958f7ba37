// Which tool a passage asks for: the words of its name, description, parameters and choices; rare words say more.
import { type Filled, fill } from './fill.ts'
import type { MentionKind, Passage } from './mentions.ts'
import type { Declared } from './parameters.ts'
import { areNear, destroying, isActing, isContent, looking, nameWords, stem, type Token } from './words.ts'

export interface Task {
  readonly tool: Declared
  readonly passage: Passage
  readonly filled: Filled
  /** What its words are worth. */
  readonly words: number
}

/** Words and how much each counts. */
export type Terms = ReadonlyMap<string, number>

/** Less than this is chance. */
export const ENOUGH = 0.6
const CLOSER_LOOK = 8
const MAX_TERMS = 300
const implied: Partial<Record<MentionKind, string>> = { email: stem('email'), url: stem('url'), path: stem('file') }
const silent = new Set<MentionKind>(['quoted', 'url', 'email', 'path', 'id', 'date'])

/** The words that mean something, each once, the first of them counting most. */
export function termsOf({ tokens, mentions }: Passage): Terms {
  const terms = new Map<string, number>()
  const hidden = mentions.filter(({ kind }) => silent.has(kind))
  const isHidden = ({ start }: Token): boolean => hidden.some((one) => one.start <= start && start < one.end)
  for (const token of tokens.filter(isContent).slice(0, MAX_TERMS))
    if (!terms.has(token.stem) && !isHidden(token)) terms.set(token.stem, terms.size === 0 ? 1.5 : 1)
  for (const { kind } of mentions) if (implied[kind] && !terms.has(implied[kind])) terms.set(implied[kind], 0.8)
  return terms
}

/** Finds the tools that words speak for. */
export class Toolbox {
  readonly tools: readonly Declared[]
  readonly #all: readonly Declared[]
  readonly #known = new Map<string, ReadonlyMap<Declared, number>>()

  constructor(tools: readonly Declared[], agents: readonly Declared[]) {
    this.tools = tools
    this.#all = [...tools, ...agents]
  }

  /** What a passage may ask for, the likeliest first. */
  tasks(passage: Passage): Task[] {
    const terms = termsOf(passage)
    const likely = this.tools
      .map((tool) => ({ tool, words: this.weigh(tool, terms) }))
      .filter(({ tool, words }) => words >= ENOUGH && isAllowed(tool, passage))
      .sort((a, b) => b.words - a.words)
    const tasks = likely.slice(0, CLOSER_LOOK).map(({ tool, words }) => {
      const filled = fill(tool, passage)
      const well = words + Math.min(filled.recognised, 4) * 0.7 + moodOf(tool, passage)
      const score = well - Math.min(filled.missing.length, 4) * 1.2 - Math.min(filled.unused, 3)
      return { tool, words, passage, filled, score }
    })
    return tasks.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
  }

  weigh(tool: Declared, terms: Terms): number {
    let sum = 0
    for (const [term, weight] of terms) sum += (this.#speaks(term).get(tool) ?? 0) * weight
    return sum
  }

  /** How much one word speaks for each tool: most when it is a word of one tool only, less the more tools have it. */
  #speaks(term: string): ReadonlyMap<Declared, number> {
    const known = this.#known.get(term)
    if (known) return known
    const likeness = (stem: string): number => (stem === term ? 1 : areNear(stem, term) ? 0.7 : 0)
    const found = new Map<Declared, number>()
    for (const tool of this.#all)
      for (const [stem, weight] of tool.weights) {
        const worth = likeness(stem) * weight
        if (worth > (found.get(tool) ?? 0)) found.set(tool, worth)
      }
    const all = this.#all.length
    const rarity = Math.log(1 + all / Math.max(found.size, 1)) / Math.log(1 + all)
    for (const [tool, worth] of found) found.set(tool, worth * rarity)
    this.#known.set(term, found)
    return found
  }
}

const wondering = /^(?:is|are|was|were|am|did|does|has|have|when|where|who|why|when's|where's|who's)$/
const asking = /^(?:what|what's|whats|which|how|how's|do|will|any|show|list|tell|give)$/
const polite = /^(?:please|can|could|would|you|hey|hi|hello|and|i|i'd|like|want|to|need|now|then|also|ok|okay)$/
const firstOf = ({ tokens }: Passage): Token | undefined => tokens.find(({ lower }) => !polite.test(lower))

/** A question changes nothing, and what cannot be undone is called by its name. */
function isAllowed({ name }: Declared, passage: Passage): boolean {
  const own = nameWords(name).map(stem)
  const destroys = own.find((word) => destroying.has(word))
  if (isActing(own[0] ?? '') && wondering.test(firstOf(passage)?.lower ?? '')) return false
  return destroys === undefined || passage.tokens.some((token) => areNear(destroys, token.stem))
}

/** More when the tool does what the passage sounds like, less when it does the other thing. */
function moodOf({ name }: Declared, passage: Passage): number {
  const verb = stem(nameWords(name)[0] ?? '')
  const { lower = '', stem: first = '' } = firstOf(passage) ?? {}
  if (asking.test(lower) || wondering.test(lower)) return looking.has(verb) ? 0.5 : isActing(verb) ? -1 : 0
  return areNear(verb, first) ? 0.5 : isActing(first) && looking.has(verb) ? -1 : 0
}

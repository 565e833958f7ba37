// Which tool a passage asks for: the words of its name, description, parameters and choices; rare words say more.
import { type Filled, fill } from './fill.ts'
import type { Passage } from './mentions.ts'
import type { Declared } from './parameters.ts'
import { areNear, destroying, isActing, isContent, nameWords, stem } from './words.ts'

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

/** The words that mean something, each once, the first of them counting most. */
export function termsOf({ tokens }: Passage): Terms {
  const stems = new Set(tokens.filter(isContent).map(({ stem }) => stem))
  return new Map([...stems].slice(0, MAX_TERMS).map((stem, at) => [stem, at === 0 ? 1.5 : 1]))
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
      const well = words + Math.min(filled.recognised, 4) * 0.7
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

const wondering = /^(?:is|are|was|were|am|did|does|has|have|when|where|who|why)(?:'s)?$/

/** A question changes nothing, and what cannot be undone is called by its name. */
function isAllowed({ name }: Declared, { tokens }: Passage): boolean {
  const own = nameWords(name).map(stem)
  const destroys = own.find((word) => destroying.has(word))
  if (isActing(own[0] ?? '') && wondering.test(tokens[0]?.lower ?? '')) return false
  return destroys === undefined || tokens.some((token) => areNear(destroys, token.stem))
}

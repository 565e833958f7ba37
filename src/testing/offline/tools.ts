// Which tool a passage asks for: the words of its name, description, parameters and choices; rare words say more.
import { type Filled, fill } from './fill.ts'
import type { Passage } from './mentions.ts'
import type { Declared } from './parameters.ts'
import { areNear, destroying, isActing, isContent, nameWords, nearTo, stem } from './words.ts'

/** What a request can be answered with, and when. */
export interface Toolbox {
  readonly tools: readonly Declared[]
  readonly agents: readonly Declared[]
  readonly now: number
}

export interface Task {
  readonly tool: Declared
  readonly passage: Passage
  readonly filled: Filled
}

/** Words and how much each counts. */
export type Terms = ReadonlyMap<string, number>

/** Less than this is chance. */
export const ENOUGH = 0.6
const CLOSER_LOOK = 8
const MAX_TERMS = 300

/** The words that mean something, each once: the first counts most, and each more the fewer tools have it. */
export function termsOf({ tokens }: Passage, { tools, agents }: Toolbox): Terms {
  const stems = new Set(tokens.filter(isContent).map(({ stem }) => stem))
  const all = [...tools, ...agents]
  const rarityOf = (term: string): number => {
    const sharing = all.filter((tool) => likeness(tool, term) > 0).length
    return Math.log(1 + all.length / Math.max(sharing, 1)) / Math.log(1 + all.length)
  }
  return new Map([...stems].slice(0, MAX_TERMS).map((term, at) => [term, rarityOf(term) * (at === 0 ? 1.5 : 1)]))
}

function likeness({ weights }: Declared, term: string): number {
  return Math.max(weights.get(term) ?? 0, ...nearTo(term).map((word) => 0.7 * (weights.get(word) ?? 0)))
}

/** How much the words speak for a tool. */
export function weigh(tool: Declared, terms: Terms): number {
  let sum = 0
  for (const [term, weight] of terms) sum += likeness(tool, term) * weight
  return sum
}

/** What a passage most likely asks for. */
export function taskOf(passage: Passage, toolbox: Toolbox): Task | undefined {
  const terms = termsOf(passage, toolbox)
  const likely = toolbox.tools
    .map((tool) => ({ tool, words: weigh(tool, terms) }))
    .filter(({ tool, words }) => words >= ENOUGH && isAllowed(tool, passage))
    .sort((a, b) => b.words - a.words)
  const tasks = likely.slice(0, CLOSER_LOOK).map(({ tool, words }) => {
    const filled = fill(tool, passage)
    const well = words + Math.min(filled.recognised, 4) * 0.7
    const score = well - Math.min(filled.missing.length, 4) * 1.2 - Math.min(filled.unused, 3)
    return { tool, passage, filled, score }
  })
  return tasks.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)[0]
}

const wondering = /^(?:is|are|was|were|am|did|does|has|have|when|where|who|why)(?:'s)?$/

/** A question changes nothing, and what cannot be undone is called by its name. */
function isAllowed({ name }: Declared, { tokens }: Passage): boolean {
  const own = nameWords(name).map(stem)
  const destroys = own.find((word) => destroying.has(word))
  if (isActing(own[0] ?? '') && wondering.test(tokens[0]?.lower ?? '')) return false
  return destroys === undefined || tokens.some((token) => areNear(destroys, token.stem))
}

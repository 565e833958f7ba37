// Which words speak for which tool. A word that few tools have says more than one that all have.
import type { Declared } from './declared.ts'
import { concepts } from './synonyms.ts'
import { isCloseSpelling } from './words.ts'

/** A word that only means nearly the same. */
const NEARLY = 0.7
const MISSPELLED = 0.8

export class Vocabulary {
  readonly #size: number
  readonly #tools: Map<string, number> = new Map()
  readonly #concepts: Map<Declared, Map<string, number>> = new Map()

  constructor(tools: readonly Declared[]) {
    this.#size = tools.length
    for (const tool of tools) {
      const near = new Map<string, number>()
      for (const [stem, weight] of tool.weights) {
        for (const concept of concepts(stem)) near.set(concept, Math.max(weight, near.get(concept) ?? 0))
      }
      this.#concepts.set(tool, near)
      for (const key of [...tool.weights.keys(), ...near.keys()]) this.#tools.set(key, (this.#tools.get(key) ?? 0) + 1)
    }
  }

  /** How much one word speaks for a tool; 0 when it does not. */
  weigh(tool: Declared, stem: string): number {
    const exact = (tool.weights.get(stem) ?? 0) * this.#rarity(stem)
    let near = 0
    for (const concept of concepts(stem)) {
      near = Math.max(near, (this.#concepts.get(tool)?.get(concept) ?? 0) * NEARLY * this.#rarity(concept))
    }
    return Math.max(exact, near)
  }

  knows(stem: string): boolean {
    return this.#tools.has(stem) || concepts(stem).some((concept) => this.#tools.has(concept))
  }

  /** The known word that this one may be a misspelling of. */
  closest(stem: string): { readonly stem: string; readonly trust: number } | undefined {
    if (stem.length < 5) return undefined
    for (const known of this.#tools.keys()) if (isCloseSpelling(stem, known)) return { stem: known, trust: MISSPELLED }
    return undefined
  }

  /** 1 for a word of one tool only, less the more tools have it. */
  #rarity(key: string): number {
    const having = this.#tools.get(key) ?? 0
    return having === 0 ? 0 : Math.log(1 + this.#size / having) / Math.log(1 + this.#size)
  }
}

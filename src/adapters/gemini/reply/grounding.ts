// Merges the sources of a reply. Each chunk of a stream can contain some of them, and some chunks repeat earlier ones.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'

/** A list without duplicates across chunks. Duplicates within one chunk stay. */
export class UniqueList {
  /** The items in the order they arrived. */
  readonly items: unknown[] = []
  readonly #indices: Map<string, number> = new Map()

  /** Adds the items of one chunk. Returns the index of each item in the whole list. */
  add(items: unknown): number[] {
    if (!Array.isArray(items)) return []
    const added: [key: string, index: number][] = []
    const indices = items.map((item) => {
      const key = canonicalJson(item)
      const known = this.#indices.get(key)
      if (known !== undefined) return known
      const index = this.items.push(item) - 1
      added.push([key, index])
      return index
    })
    for (const [key, index] of added) this.#indices.set(key, index)
    return indices
  }
}

/** Merges grounding metadata. Lists (`groundingChunks`) are joined; of other fields (`searchEntryPoint`) the last wins. */
export class Grounding {
  readonly #lists: Map<string, UniqueList> = new Map()
  readonly #others: Map<string, unknown> = new Map()

  /** Adds the metadata of one chunk. */
  add({ groundingChunks, groundingSupports, ...others }: JsonObject): void {
    const indices = this.#extend('groundingChunks', groundingChunks)
    if (Array.isArray(groundingSupports)) {
      const supports = groundingSupports.map((support: unknown) => renumberSources(support, indices))
      this.#extend('groundingSupports', supports)
    }
    for (const [field, value] of Object.entries(others)) {
      if (Array.isArray(value)) this.#extend(field, value)
      else if (value !== undefined && value !== null) this.#others.set(field, value)
    }
  }

  /** The merged metadata. Undefined when no chunk had any. */
  metadata(): JsonObject | undefined {
    if (this.#lists.size + this.#others.size === 0) return undefined
    const lists = [...this.#lists].map(([field, { items }]): [string, unknown] => [field, items])
    return Object.fromEntries([...lists, ...this.#others])
  }

  #extend(field: string, items: unknown): number[] {
    if (!Array.isArray(items)) return []
    let list = this.#lists.get(field)
    if (!list) {
      list = new UniqueList()
      this.#lists.set(field, list)
    }
    return list.add(items)
  }
}

/** Converts the source indices of a support from its own chunk's list to the merged list. */
function renumberSources(support: unknown, mergedIndices: readonly number[]): unknown {
  if (!isRecord(support) || !Array.isArray(support.groundingChunkIndices)) return support
  const indices = support.groundingChunkIndices.map((index: unknown) =>
    typeof index === 'number' ? (mergedIndices[index] ?? index) : index,
  )
  return { ...support, groundingChunkIndices: indices }
}

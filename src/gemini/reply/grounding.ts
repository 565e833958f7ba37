// What a reply rests on. Each chunk of a stream may hold a share of it, and some repeat what an earlier one had.
import { canonicalJson, isRecord, type JsonObject } from '../../base/json.ts'

/** Items in the order they came; one that an earlier chunk had is not added again. */
export class UniqueList {
  readonly items: unknown[] = []
  readonly #places: Map<string, number> = new Map()

  /** Gives the place of each item in the whole list. */
  add(items: unknown): number[] {
    if (!Array.isArray(items)) return []
    const added: [key: string, place: number][] = []
    const places = items.map((item) => {
      const key = canonicalJson(item)
      const known = this.#places.get(key)
      if (known !== undefined) return known
      const place = this.items.push(item) - 1
      added.push([key, place])
      return place
    })
    for (const [key, place] of added) this.#places.set(key, place)
    return places
  }
}

/** Lists grow (`groundingChunks`, `webSearchQueries`, ...); of everything else (`searchEntryPoint`, ...) the last counts. */
export class Grounding {
  readonly #lists: Map<string, UniqueList> = new Map()
  readonly #others: Map<string, unknown> = new Map()

  add({ groundingChunks, groundingSupports, ...others }: JsonObject): void {
    const places = this.#extend('groundingChunks', groundingChunks)
    if (Array.isArray(groundingSupports)) {
      const supports = groundingSupports.map((support: unknown) => renumberSources(support, places))
      this.#extend('groundingSupports', supports)
    }
    for (const [field, value] of Object.entries(others)) {
      if (Array.isArray(value)) this.#extend(field, value)
      else if (value !== undefined && value !== null) this.#others.set(field, value)
    }
  }

  /** Undefined when no chunk had any. */
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

/** A support names sources by their place in its own chunk's list; without such a list they are places in the whole. */
function renumberSources(support: unknown, places: readonly number[]): unknown {
  if (!isRecord(support) || !Array.isArray(support.groundingChunkIndices)) return support
  const indices = support.groundingChunkIndices.map((index: unknown) =>
    typeof index === 'number' ? (places[index] ?? index) : index,
  )
  return { ...support, groundingChunkIndices: indices }
}

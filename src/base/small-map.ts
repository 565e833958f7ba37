import { registerShape } from './object-shapes.ts'

/** A map for mostly one entry: the first entry needs no hash table. Keeps the order of insertion. */
export class SmallMap<V> {
  #key: string | undefined
  #value: V | undefined
  #others: Map<string, V> | undefined

  /** The number of entries. */
  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#others?.size ?? 0)
  }
  /** The value of a key; undefined if there is none. */
  get(key: string): V | undefined {
    return key === this.#key ? this.#value : this.#others?.get(key)
  }
  /** Is there an entry for the key? */
  has(key: string): boolean {
    return key === this.#key || (this.#others?.has(key) ?? false)
  }
  /** Adds or replaces an entry. */
  set(key: string, value: V): void {
    if (this.#key === undefined || this.#key === key) {
      this.#key = key
      this.#value = value
      return
    }
    this.#others ??= new Map()
    this.#others.set(key, value)
  }
  /** All values, in the order of insertion. */
  all(): V[] {
    if (this.#key === undefined) return []
    return this.#others ? [this.#value as V, ...this.#others.values()] : [this.#value as V]
  }
}

registerShape(() => new SmallMap())

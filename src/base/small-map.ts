import { registerShape } from './object-shapes.ts'

/** A map that mostly holds one entry: the first needs no table. Keeps the order of arrival. */
export class SmallMap<V> {
  #key: string | undefined
  #value: V | undefined
  #others: Map<string, V> | undefined

  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#others?.size ?? 0)
  }
  get(key: string): V | undefined {
    return key === this.#key ? this.#value : this.#others?.get(key)
  }
  has(key: string): boolean {
    return key === this.#key || (this.#others?.has(key) ?? false)
  }
  set(key: string, value: V): void {
    if (this.#key === undefined || this.#key === key) {
      this.#key = key
      this.#value = value
      return
    }
    this.#others ??= new Map()
    this.#others.set(key, value)
  }
  /** All of them, in the order they came. */
  all(): V[] {
    if (this.#key === undefined) return []
    return this.#others ? [this.#value as V, ...this.#others.values()] : [this.#value as V]
  }
}

registerShape(() => new SmallMap())

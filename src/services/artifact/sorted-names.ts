/** Names in order. Adding, removing and reading a part are fast, however many there are. */
export class SortedNames {
  readonly #names: string[] = []

  /** All names, in order. */
  get all(): readonly string[] {
    return this.#names
  }

  /** Adds a name. Does nothing if it is there. */
  add(name: string): void {
    const at = this.#positionOf(name)
    if (this.#names[at] !== name) this.#names.splice(at, 0, name)
  }

  /** Removes a name. Does nothing if it is not there. */
  delete(name: string): void {
    const at = this.#positionOf(name)
    if (this.#names[at] === name) this.#names.splice(at, 1)
  }

  /** The first names after another one, or the first of all. */
  after(name: string | undefined, limit: number): string[] {
    const at = name === undefined ? 0 : this.#positionOf(name)
    const start = name !== undefined && this.#names[at] === name ? at + 1 : at
    return this.#names.slice(start, start + limit)
  }

  /** Where the name is, or would be. */
  #positionOf(name: string): number {
    let low = 0
    let high = this.#names.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#names[middle] as string) < name) low = middle + 1
      else high = middle
    }
    return low
  }
}

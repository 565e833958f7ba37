/** Finds a condition that holds at `count` consecutive ends of turns. */
export class TurnsEpisode {
  readonly #count: number
  #turns = 0

  constructor(count: number) {
    this.#count = count
  }
  /** Takes the condition at the end of a turn. Returns true if the turn completes the pattern. */
  add(holds: boolean): boolean {
    this.#turns = holds ? this.#turns + 1 : 0
    return this.#turns === this.#count
  }
}

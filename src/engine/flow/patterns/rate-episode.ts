/**
 * Finds `count` events within `perMs`. The episode lasts as long as each further event is the last of `count` events within
 * `perMs`, so that a steady stream of events is one episode. It also ends when no event happens for `perMs`.
 */
export class RateEpisode {
  readonly #count: number
  readonly #perMs: number
  /** The times of the latest `count` events, in a ring. */
  readonly #times: number[] = []
  #next = 0
  #latest = Number.NEGATIVE_INFINITY
  #isFound = false

  constructor(count: number, perMs: number) {
    this.#count = count
    this.#perMs = perMs
  }
  /** Takes the monotonic time of an event. Returns true if the event starts an episode. */
  add(time: number): boolean {
    if (time - this.#latest > this.#perMs) this.#isFound = false
    this.#latest = time
    this.#times[this.#next] = time
    this.#next = (this.#next + 1) % this.#count
    // undefined until the ring is full
    const oldest = this.#times[this.#next]
    const wasFound = this.#isFound
    this.#isFound = oldest !== undefined && time - oldest <= this.#perMs
    return this.#isFound && !wasFound
  }
}

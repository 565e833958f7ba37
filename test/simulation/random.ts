/** A seeded random generator: the same seed gives the same numbers. */
export class Random {
  #state: number

  constructor(seed: number, name = '') {
    this.#state = mix(seed >>> 0)
    for (let at = 0; at < name.length; at++) this.#state = mix(this.#state ^ name.charCodeAt(at))
  }

  /** A number from 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from 0 to below `below`. */
  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  between(least: number, most: number): number {
    return least + this.int(most - least + 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    if (list.length === 0) throw new Error('There is nothing to pick from.')
    return list[this.int(list.length)] as T
  }

  /** One of the values, chosen by weight. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of choices) {
      left -= weight
      if (left < 0) return value
    }
    return (choices.at(-1) as readonly [number, T])[1]
  }

  /** A new generator that does not depend on later numbers of this one. */
  fork(name: string): Random {
    return new Random(this.int(0x1_0000_0000), name)
  }
}

function mix(value: number): number {
  let v = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  v = Math.imul(v ^ (v >>> 13), 0x45d9f3b)
  return (v ^ (v >>> 16)) >>> 0
}

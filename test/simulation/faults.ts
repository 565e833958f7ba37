// What may go wrong at a step, by the seed; nothing once they are over.
import type { Fault } from './evidence.ts'
import type { Weather } from './plan.ts'
import type { Random } from './random.ts'

/** More would only keep anything from happening. */
const MOST = 6

/** How often a process dies where the plan aims at. */
const AIMED = 0.25

export class Faults {
  readonly #random: Random
  readonly #weather: Weather
  #left = MOST
  areOver = false

  constructor(random: Random, weather: Weather) {
    this.#random = random
    this.#weather = weather
  }

  /** On the way to the store, or back; `what` is the method, or what is appended. */
  ofCall(what: readonly string[]): Fault | undefined {
    const { stall, storage, lostAck, duplicate, late } = this.#weather
    return this.#roll([
      [this.#killing(what), this.#random.chance(0.5) ? 'kill before' : 'kill after'],
      [stall, 'stall'],
      [storage, 'storage'],
      [lostAck, 'lost ack'],
      [duplicate, 'duplicate'],
      [late, 'late'],
    ])
  }

  /** Inside a process: in a body, while a model thinks. */
  ofStep(): 'kill' | 'stall' | undefined {
    return this.#roll([
      [this.#killing(['step']), 'kill'],
      [this.#weather.stall, 'stall'],
    ])
  }

  #killing(what: readonly string[]): number {
    const { kill, aim } = this.#weather
    return aim !== undefined && what.includes(aim) ? AIMED : kill
  }

  /** Mostly long enough to lose a lease. */
  stallMs(): number {
    return this.#random.between(1_000, 60_000)
  }

  lateMs(): number {
    return this.#random.between(5_000, 40_000)
  }

  /** What becomes of what a dying process had sent. */
  fateOfTheSent(): 'arrives' | 'late' | 'lost' {
    return this.#random.pick(['arrives', 'late', 'late', 'lost'])
  }

  #roll<T>(kinds: readonly (readonly [probability: number, fault: T])[]): T | undefined {
    let roll = this.#random.next()
    if (this.areOver || this.#left === 0) return undefined
    for (const [probability, fault] of kinds) {
      roll -= probability
      if (roll >= 0) continue
      this.#left--
      return fault
    }
    return undefined
  }
}

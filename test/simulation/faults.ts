// Chooses faults by the seed, until faults are switched off.
import type { Fault } from './evidence.ts'
import type { FaultRates } from './plan.ts'
import type { Random } from './random.ts'

/** The most faults of one simulation. More would prevent any progress. */
const MOST = 6

/** The probability that a process dies at the step the plan aims at. */
const AIMED = 0.25

export class Faults {
  readonly #random: Random
  readonly #rates: FaultRates
  #left = MOST
  areOver = false

  constructor(random: Random, rates: FaultRates) {
    this.#random = random
    this.#rates = rates
  }

  /** The fault of a call of the store. `what` is the method, or the kinds of the appended entries. */
  ofCall(what: readonly string[]): Fault | undefined {
    const { stall, storage, lostAck, duplicate, late } = this.#rates
    return this.#roll([
      [this.#killing(what), this.#random.chance(0.5) ? 'kill before' : 'kill after'],
      [stall, 'stall'],
      [storage, 'storage'],
      [lostAck, 'lost ack'],
      [duplicate, 'duplicate'],
      [late, 'late'],
    ])
  }

  /** The fault of a step inside a process: in a tool body, or while a model thinks. */
  ofStep(): 'kill' | 'stall' | undefined {
    return this.#roll([
      [this.#killing(['step']), 'kill'],
      [this.#rates.stall, 'stall'],
    ])
  }

  #killing(what: readonly string[]): number {
    const { kill, aim } = this.#rates
    return aim !== undefined && what.includes(aim) ? AIMED : kill
  }

  /** How long a process stalls, in milliseconds: usually long enough to lose a lease. */
  stallMs(): number {
    return this.#random.between(1_000, 60_000)
  }

  lateMs(): number {
    return this.#random.between(5_000, 40_000)
  }

  /** What happens to a call that a process had sent before it died. */
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

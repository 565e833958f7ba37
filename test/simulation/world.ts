// The scheduler of the simulation. Every wait of a simulated process is a task here, and one task runs at a time.
import type { Random } from './random.ts'

/** A process that owns tasks. */
export interface Owner {
  readonly name: string
  isAlive: boolean
  /** Its tasks do not run before this time. */
  stalledUntil: number
}

interface Task {
  /** The process that must be alive for the task to run. Undefined: the task runs in any case. */
  readonly owner: Owner | undefined
  readonly says: string
  readonly happen: () => void
}

interface Timer extends Task {
  readonly at: number
  readonly isBackground: boolean
}

const START = 1_700_000_000_000

/** Runs tasks in an order that the seed decides, and keeps both clocks. */
export class World {
  readonly #random: Random
  readonly #slowness: number
  readonly trace: string[] = []
  #tasks: Task[] = []
  #timers: Timer[] = []
  #now = START
  #wallOffset = 0
  #tick = 0
  #stalled: Owner[] = []

  constructor(random: Random, slowness: number) {
    this.#random = random
    this.#slowness = slowness
  }

  /** Milliseconds on the monotonic clock, for timers and leases. */
  get now(): number {
    return this.#now
  }
  /** Milliseconds since the epoch on the wall clock, which an operator may set. */
  get wallNow(): number {
    return this.#now + this.#wallOffset
  }
  stepWallClock(ms: number): void {
    this.#wallOffset += ms
  }
  /** Returns the next tick. Ticks order everything in the evidence. */
  tick(): number {
    return ++this.#tick
  }
  note(says: string): void {
    this.trace.push(`${String(this.#tick).padStart(5)} ${String((this.#now - START) / 1000).padStart(9)}s ${says}`)
  }

  /** Adds a task that can run from now on. */
  add(owner: Owner | undefined, says: string, happen: () => void): void {
    this.#tasks.push({ owner, says, happen })
  }
  /** Adds a task that can run after `ms`. Time does not advance just to reach it. */
  addLater(says: string, happen: () => void, ms: number): void {
    this.#timers.push({ owner: undefined, says, happen, at: this.#now + ms, isBackground: true })
  }
  setTimer(owner: Owner, happen: () => void, ms: number, isBackground: boolean): () => void {
    const timer: Timer = { owner, says: `timer of ${ms} ms`, happen, at: this.#now + ms, isBackground }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }
  sleep(owner: Owner, ms: number): Promise<void> {
    return new Promise((resolve) => void this.setTimer(owner, resolve, ms, false))
  }
  stall(owner: Owner, ms: number): void {
    owner.stalledUntil = this.#now + ms
    this.#stalled.push(owner)
  }
  /** Removes a process and its tasks. */
  bury(owner: Owner): void {
    owner.isAlive = false
    this.#tasks = this.#tasks.filter((task) => task.owner !== owner)
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner)
  }
  pass(ms: number): void {
    this.#now += ms
  }

  /** Waits until all microtasks are done, so that the order of tasks depends on the seed only. */
  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Runs one task. Returns false if none can run, or if only background timers are left. */
  step(): boolean {
    const can = this.#tasks.filter((task) => this.#isUp(task.owner))
    const due = this.#timers.filter((timer) => timer.at <= this.#now && this.#isUp(timer.owner))
    if (can.length + due.length === 0) return this.#skip()
    const at = this.#random.int(can.length + due.length)
    const task = can[at] ?? (due[at - can.length] as Timer)
    if (at < can.length) this.#tasks = this.#tasks.filter((one) => one !== task)
    else this.#timers = this.#timers.filter((one) => one !== task)
    if (this.#slowness > 0) this.#now += this.#random.int(this.#slowness)
    this.#happen(task)
    return true
  }

  #happen({ owner, says, happen }: Task): void {
    this.tick()
    this.note(`${owner?.name ?? 'store'}: ${says}`)
    happen()
  }

  /** Advances the clock to the next time at which a task can run. */
  #skip(): boolean {
    this.#stalled = this.#stalled.filter((owner) => owner.isAlive && owner.stalledUntil > this.#now)
    const waiting = this.#timers.filter((timer) => !timer.isBackground)
    const ends = this.#stalled.map(({ stalledUntil }) => stalledUntil)
    if (waiting.length + ends.length === 0) return false
    const next = Math.min(...ends, ...this.#timers.map(({ at, owner }) => Math.max(at, owner?.stalledUntil ?? 0)))
    this.#now = Math.max(this.#now, next)
    this.note('time passes')
    return true
  }

  #isUp(owner: Owner | undefined): boolean {
    return !owner || (owner.isAlive && owner.stalledUntil <= this.#now)
  }
}

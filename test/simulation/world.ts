// Time and chance: whatever a simulated process waits for is a task here, and one task happens at a time.
import type { Random } from './random.ts'

/** A process as the world sees it. */
export interface Owner {
  readonly name: string
  isAlive: boolean
  /** Until then nothing of it happens. */
  stalledUntil: number
}

interface Task {
  /** Nobody: it happens whatever becomes of who asked for it. */
  readonly owner: Owner | undefined
  readonly says: string
  readonly happen: () => void
}

interface Timer extends Task {
  readonly at: number
  readonly isBackground: boolean
}

const START = 1_700_000_000_000

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

  /** Milliseconds on a clock that is never set: timers and leases follow it. */
  get now(): number {
    return this.#now
  }
  /** Milliseconds since the epoch as every process reads them: somebody may set this clock. */
  get wallNow(): number {
    return this.#now + this.#wallOffset
  }
  stepWallClock(ms: number): void {
    this.#wallOffset += ms
  }
  /** A number for the thing that happens now; greater than all before. */
  tick(): number {
    return ++this.#tick
  }
  note(says: string): void {
    this.trace.push(`${String(this.#tick).padStart(5)} ${String((this.#now - START) / 1000).padStart(9)}s ${says}`)
  }

  /** Something that can happen from now on. */
  add(owner: Owner | undefined, says: string, happen: () => void): void {
    this.#tasks.push({ owner, says, happen })
  }
  /** Something that can happen when so much time has passed; nothing waits for that. */
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
  /** Nothing of it happens any more. */
  bury(owner: Owner): void {
    owner.isAlive = false
    this.#tasks = this.#tasks.filter((task) => task.owner !== owner)
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner)
  }
  pass(ms: number): void {
    this.#now += ms
  }

  /** Everything that only waits for the processor has happened: then nothing depends on who was faster. */
  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** One thing happens. False when nothing can, or only what keeps nobody waiting. */
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

  /** Nobody can do anything now: on to when somebody can. */
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

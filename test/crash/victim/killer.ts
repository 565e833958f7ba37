import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { DeathTime, KillPoint } from '../kill-points.ts'

/** Kills this process with SIGKILL at a chosen moment. */
export class Killer {
  readonly #death: DeathTime
  readonly #visits: Map<KillPoint, number> = new Map()
  #steps = 0
  #isWaiting = false

  constructor(death: DeathTime) {
    this.#death = death
  }

  /** The points that the process has come to, and survived. */
  get survived(): readonly KillPoint[] {
    return [...this.#visits.keys()]
  }

  /** The number of steps so far. */
  get steps(): number {
    return this.#steps
  }

  /** The process has come to a point. */
  reach(point: KillPoint): void {
    // on a busy machine, a renewal may come before the run is where it is to die
    if (point !== 'c12' || this.#isWaiting) this.#visit(point)
    this.step()
  }

  #visit(point: KillPoint): void {
    const visits = (this.#visits.get(point) ?? 0) + 1
    this.#visits.set(point, visits)
    const death = this.#death
    if (death.type === 'point' && death.point === point && death.nth === visits) die(`${point}:${visits}`)
  }

  /** The process has done a step, such as a statement. A random kill strikes at one of them. */
  step(): void {
    this.#steps++
    const death = this.#death
    if (death.type === 'step' && death.nth === this.#steps) die(`step:${this.#steps}`)
  }

  /** Waits here until time brings the process to a point. Only if it is to die there, or to visit all points. */
  async waitFor(point: KillPoint): Promise<void> {
    const death = this.#death
    if (death.type !== 'survey' && !(death.type === 'point' && death.point === point)) return
    this.#isWaiting = true
    while (!this.#visits.has(point)) await setTimeout(10)
  }
}

/** The parent reads the text from the pipe, which survives the process. No line after the signal runs. */
function die(where: string): void {
  writeSync(1, `${JSON.stringify({ diedAt: where })}\n`)
  process.kill(process.pid, 'SIGKILL')
}

import type { FleetWorker, FleetWorld } from './fleet-world.ts'

const WORKERS = 3

/** Three workers, of which one is killed at a time. */
export class WorkerPool {
  readonly #world: FleetWorld
  readonly #aheadMs: readonly number[]
  readonly #workers: Promise<FleetWorker>[] = []
  #started = 0
  #kills = 0

  /** `aheadMs`: how far the clocks of workers are ahead, in turn. */
  constructor(world: FleetWorld, aheadMs: readonly number[] = [0]) {
    this.#world = world
    this.#aheadMs = aheadMs
  }

  /** How many workers were killed. */
  get kills(): number {
    return this.#kills
  }

  /** Starts the workers. */
  async fill(): Promise<void> {
    while (this.#workers.length < WORKERS) this.#start()
    await Promise.all(this.#workers)
  }

  /** Kills the worker that has run for the longest time. Another one starts, while the rest work. */
  async killOldest(onKill?: (worker: number) => void): Promise<void> {
    const oldest = await this.#workers.shift()
    if (!oldest) throw new Error('No worker runs.')
    onKill?.(oldest.id)
    await oldest.kill()
    this.#kills++
    this.#start()
  }

  /** Kills all workers. */
  async killAll(): Promise<void> {
    for (const worker of await Promise.all(this.#workers.splice(0))) await worker.kill()
  }

  #start(): void {
    const aheadMs = this.#aheadMs[this.#started++ % this.#aheadMs.length] ?? 0
    const worker = this.#world.startWorker({ aheadMs })
    worker.catch(() => {}) // killOldest() throws it
    this.#workers.push(worker)
  }
}

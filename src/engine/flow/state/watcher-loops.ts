import type { JsonObject } from '../../../core/base/json.ts'
import type { State } from '../../context/context.ts'

/** Follows which writes come from watchers, so that watchers that make each other run without end can be stopped. */
export class WatcherLoops {
  /** How many watchers have led to the latest write of a key. Only writes that are not recorded yet. */
  readonly #depths: Map<string, number> = new Map()
  /** The depth of what is written now. */
  #writing = 0

  /** A key was written. */
  written(key: string): void {
    if (this.#writing > 0) this.#depths.set(key, this.#writing)
  }

  /** How many watchers in a row have led to a recorded delta. Zero if no watcher wrote it. */
  depthOf(delta: JsonObject): number {
    let depth = 0
    for (const key of Object.keys(delta)) {
      depth = Math.max(depth, this.#depths.get(key) ?? 0)
      this.#depths.delete(key)
    }
    return depth
  }

  /** Runs a watcher for a delta of this depth, with a state that takes note of its writes, also of later ones. */
  run(depth: number, state: State, watcher: (state: State) => unknown): unknown {
    const within = <T>(work: () => T): T => {
      const before = this.#writing
      this.#writing = depth + 1
      try {
        return work()
      } finally {
        this.#writing = before
      }
    }
    const noted: State = {
      get: state.get.bind(state),
      has: (key) => state.has(key),
      keys: () => state.keys(),
      set: (key, value) => within(() => state.set(key, value)),
      delete: (key) => within(() => state.delete(key)),
    }
    return within(() => watcher(noted))
  }
}

import { pauseAfter } from './pace.ts'
import { WorkQueue } from './work-queue.ts'

/** Smaller frames, such as audio and most messages, take no time worth a pause. */
const LARGE_CHARACTERS = 64_000

/** Reads the frames of live clients: those of one principal one after another, and requests of others come between them. */
export class FramePace {
  readonly #queue = new WorkQueue(1, Number.POSITIVE_INFINITY) // a connection has one frame here

  /** Reads a frame when it is the turn of its principal. What follows in the same turn of the event loop counts as part of it. */
  async read<Frame>(text: string, principalId: string, read: (text: string) => Frame): Promise<Frame> {
    const end = await this.#queue.take(principalId)
    const start = performance.now()
    setImmediate(() => {
      if (text.length <= LARGE_CHARACTERS) end()
      else setTimeout(end, pauseAfter(start)).unref()
    })
    return read(text)
  }
}

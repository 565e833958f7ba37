import { ToolwrightError } from '../../../core/error/error.ts'
import type { Entry } from '../../../core/event/event.ts'
import type { Checkpoint } from '../../../services/session/service.ts'

/** The entries of a log before a checkpoint. They are read when they are needed, the latest first. */
export class EarlierEntries {
  readonly #checkpoint: Checkpoint
  /** The entries from this one on have been read. */
  #from: number

  constructor(checkpoint: Checkpoint) {
    this.#checkpoint = checkpoint
    this.#from = checkpoint.seq + 1
  }

  /** Has the entry with this sequence number been read? */
  has(seq: number): boolean {
    return seq >= this.#from
  }

  /** Reads the entries from `seq` on that have not been read. Throws STORAGE if some are missing. */
  async read(seq: number): Promise<readonly Entry[]> {
    if (this.has(seq)) return []
    const first = Math.max(1, seq)
    const read = await this.#checkpoint.entriesBefore({ fromSeq: first - 1 })
    const more = read.filter((entry) => !this.has(entry.seq))
    if (more.length !== this.#from - first || more.some((entry, at) => entry.seq !== first + at)) {
      const problem = `The event log has a missing or repeated entry between ${first} and ${this.#from - 1}`
      throw new ToolwrightError('STORAGE', `${problem}. Restore it from a backup.`)
    }
    this.#from = first
    return more
  }
}

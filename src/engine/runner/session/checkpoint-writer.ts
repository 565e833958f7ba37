import type { JsonObject } from '../../../core/base/json.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { ReadonlyView } from '../../agent/loop/session-view.ts'
import { toCheckpoint } from '../../agent/loop/view-checkpoint.ts'

/** The fewest entries between two checkpoints. Reading fewer entries again takes about a millisecond. */
const MIN_ENTRIES = 128

/** A checkpoint with this many characters for each entry since the last one is too large: an entry has about 500. */
const MAX_CHARS_PER_ENTRY = 64

/** The state of a running invocation is large. It is stored only if the invocation has this many times the usual entries. */
const PATIENCE = 4

/**
 * Makes the checkpoints of a log. There is one for every 128 entries, and fewer if they are large, so that they add about an
 * eighth to what is stored, however long the log is.
 */
export class CheckpointWriter {
  /** The sequence number of the latest entry in the last checkpoint. */
  #seq: number
  /** The characters of the last checkpoint. */
  #size = 0

  /** `seq`: the latest entry in the checkpoint that the store has. 0: it has none. */
  constructor(seq: number) {
    this.#seq = seq
  }

  /** The checkpoint to store with the next append. Undefined: none is due. */
  next(view: ReadonlyView, tree: AgentTree): JsonObject | undefined {
    const entries = view.seq - this.#seq
    const due = Math.max(MIN_ENTRIES, this.#size / MAX_CHARS_PER_ENTRY)
    if (entries < due || (!view.isBetweenInvocations && entries < due * PATIENCE)) return undefined
    const text = JSON.stringify(toCheckpoint(view, tree)) // a text, because it shares objects with the view
    this.#size = text.length
    if (text.length > entries * MAX_CHARS_PER_ENTRY) return undefined
    this.#seq = view.seq
    return JSON.parse(text)
  }
}

// Where the latest turns of a log begin. A turn is a message of the user and everything until the next one.
import type { Event } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import { isVisibleUserPart } from '../request/history.ts'
import type { OpenCall } from '../request/open-call.ts'

/** The start of a turn. */
export interface TurnStart {
  /** The sequence number of the user's message. */
  readonly seq: number
  /** The index of the message among the events of the log. */
  readonly event: number
  /** The calls that were open when the message arrived. Their replies belong to earlier turns. */
  readonly open: readonly OpenCall[]
}

const NO_CALLS: readonly OpenCall[] = []

/** The starts of the latest turns. */
export class Turns {
  readonly #starts: TurnStart[]
  readonly #kept: number

  /** `kept`: how many turns the agents show at most. */
  constructor(kept: number, starts: readonly TurnStart[] = []) {
    this.#kept = kept
    this.#starts = [...starts]
  }

  /** The starts that are kept, in the order of the log. */
  get starts(): readonly TurnStart[] {
    return this.#starts
  }

  /** Adds the start of a turn. `folds`: the unfinished invocations before it. */
  add(seq: number, event: number, folds: Iterable<Fold>): void {
    if (this.#starts.length === this.#kept) this.#starts.shift()
    this.#starts.push({ seq, event, open: openCallsIn(folds, this.#starts.at(-1)?.open ?? NO_CALLS) })
  }

  /** The start of the latest `count` turns. Undefined if the log has no more turns than these. */
  start(count: number): TurnStart | undefined {
    return this.#starts[this.#starts.length - count]
  }
}

/** Does a turn begin with this event? Answers to requests, results of calls and changes of the state begin none. */
export function startsTurn({ author, content, isolationScope }: Event): boolean {
  return author === 'user' && isolationScope === undefined && (content?.parts.some(isVisibleUserPart) ?? false)
}

/** The open calls of these invocations. A call that was open at the turn before, too, is the same object. */
function openCallsIn(folds: Iterable<Fold>, before: readonly OpenCall[]): readonly OpenCall[] {
  let all: OpenCall[] | undefined // most turns begin without any
  for (const fold of folds) {
    const open = new Set(fold.openCalls())
    if (open.size === 0) continue
    for (const call of fold.calls.values()) {
      const { id, name, args, path, isCode, agent, response } = call
      const scope = fold.scopes.get(path)
      if (!open.has(call) || scope?.isolation !== undefined) continue // the history of an agent tool is never cut
      const known = before.find((one) => one.id === id && one.response === response)
      const { invocationId } = fold
      all ??= []
      all.push(known ?? { id, name, args, isCode, invocationId, agent, branch: scope?.branch, response })
    }
  }
  return all ?? NO_CALLS
}

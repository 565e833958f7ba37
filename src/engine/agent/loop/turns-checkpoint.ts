// The starts of turns as JSON. A call that was open at many turns is stored once.
import { aBoolean, aCount, aRecord, aString, exactly, listOf, maybe, type Shape } from '../../../core/base/shape.ts'
import { responseShape } from '../../../core/event/fold-shape.ts'
import type { OpenCall } from '../request/open-call.ts'
import type { TurnStart } from './turns.ts'

/** Starts of turns as JSON. */
export interface StoredTurns {
  /** The calls that were open at some of the turns. */
  readonly calls: readonly OpenCall[]
  /** For each turn: its sequence number, the index of its event, and the indexes of the calls that were open. */
  readonly starts: readonly (readonly [seq: number, event: number, ...open: readonly number[]])[]
}

/** The shape of `StoredTurns`. */
export const turnsShape: Shape = exactly({
  calls: listOf(
    exactly({
      id: aString,
      name: aString,
      args: aRecord,
      isCode: aBoolean,
      invocationId: aString,
      agent: aString,
      branch: maybe(aString),
      response: maybe(responseShape),
    }),
  ),
  starts: listOf((start) => listOf(aCount)(start) && (start as readonly number[]).length >= 2),
})

/** The starts of turns as JSON. */
export function storeTurns(turns: readonly TurnStart[]): StoredTurns {
  const indexes = new Map<OpenCall, number>()
  const indexOf = (call: OpenCall): number => {
    const index = indexes.get(call) ?? indexes.size
    indexes.set(call, index)
    return index
  }
  const starts = turns.map(({ seq, event, open }) => [seq, event, ...open.map(indexOf)] as const)
  return { calls: [...indexes.keys()], starts }
}

/** The starts of turns. Throws if one of them names a call that is not there. */
export function readTurns({ calls, starts }: StoredTurns): TurnStart[] {
  const find = (index: number): OpenCall => {
    const call = calls[index]
    if (!call) throw new Error(`The checkpoint has no open call ${index}.`)
    return call
  }
  return starts.map(([seq, event, ...open]) => ({ seq, event, open: open.map(find) }))
}

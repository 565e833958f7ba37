import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { messageOf } from '../../../core/error/error.ts'
import { hideSecrets } from '../../../core/error/hide-secrets.ts'
import type { Observer } from '../../../engine/observe/observer.ts'
import type {
  CallOperation,
  Operation,
  OperationEnd,
  OperationNote,
  ToolOperation,
} from '../../../engine/observe/operation.ts'
import type { SessionOfApp } from '../../../engine/runner/work/work-item.ts'
import { BoundedRecords } from './bounded-records.ts'
import { keyOf } from './model-calls.ts'

/** The notes of one call. Later ones are counted. */
const MAX_NOTES = 100
/** The characters of one note. */
const MAX_CHARACTERS = 1_000
/** The calls that are kept. */
const MAX_CALLS = 500

/** What happened in a call. */
export interface NotedCall {
  /** The effect of the tool. */
  readonly effect: string | undefined
  /** Did a policy give the result of an earlier call? */
  isCached: boolean
  /** What was noted, in order. `at`: milliseconds since the epoch. */
  readonly notes: { readonly at: number; readonly type: string; readonly text: string }[]
  /** How many further notes there were. */
  dropped: number
}

/**
 * What happened in the latest tool calls of an app, as far as no log has it: log lines, progress, waiting for a turn, results of a cache.
 * Kept in memory only.
 */
export class CallNotes implements Observer {
  readonly #records = new BoundedRecords<NotedCall>({ count: MAX_CALLS, characters: Number.POSITIVE_INFINITY })

  /** Notes the effect of a tool, and whether its body ran. */
  async around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    if (operation.type !== 'tool' && operation.type !== 'call') return void (await next())
    const ended = next()
    const call = this.#callOf(operation)
    const { outcome } = await ended
    if (outcome === 'cached') call.isCached = true
  }

  /** Notes what happens in a call. */
  note(operation: Operation, note: OperationNote): void {
    if ((operation.type !== 'tool' && operation.type !== 'call') || note.type === 'recorded') return
    const call = this.#callOf(operation)
    if (call.notes.length >= MAX_NOTES) call.dropped++
    else call.notes.push({ at: Date.now(), type: note.type, text: textOf(note) })
  }

  /** What happened in a call. Undefined if nothing is kept of it. */
  find(session: SessionOfApp, callId: string): NotedCall | undefined {
    return this.#records.get(keyOf(session, callId))
  }

  #callOf({ run, callId, effect }: ToolOperation | CallOperation): NotedCall {
    const key = keyOf(run, callId)
    const known = this.#records.get(key)
    if (known) return known
    const call: NotedCall = { effect, isCached: false, notes: [], dropped: 0 }
    this.#records.set(key, call, 0) // what it comes to have is limited
    return call
  }
}

/** What is shown of a note: the line of a tool with its data, what it reports, or the policy that it waits for. */
function textOf(note: Exclude<OperationNote, { readonly type: 'recorded' }>): string {
  if (note.type === 'queued' || note.type === 'admitted') return note.policy
  if (note.type === 'progress') return jsonOf(note.value)
  const { message, data } = note
  const line = typeof message === 'string' ? message : messageOf(message)
  return hideSecrets((data === undefined ? line : `${line} ${jsonOf(data)}`).slice(0, MAX_CHARACTERS))
}

function jsonOf(value: unknown): string {
  const { value: copy } = toJsonValue(value, MAX_CHARACTERS, MAX_CHARACTERS)
  return (typeof copy === 'string' ? copy : JSON.stringify(copy)).slice(0, MAX_CHARACTERS)
}

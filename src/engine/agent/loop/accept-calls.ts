// Makes the calls of a reply fit for the log: their number, names and arguments are limited, and each gets an id.
import { clip, MAX_NAME_LENGTH } from '../../../core/base/limits.ts'
import { removeFrom } from '../../../core/base/remove-from.ts'
import type { Content, FunctionCall, Part } from '../../../core/content/content.ts'
import { newOwnId } from '../../../core/event/own-id.ts'
import { storableArgs } from '../../dispatch/storable-args.ts'
import { isFitId } from '../request/sendable-calls.ts'
import type { RunHost } from './run-host.ts'

/** Most calls recorded of one reply, as a multiple of the calls that run. Calls above it are left out of the reply. */
const RECORDED_FACTOR = 8

/** The position that is recorded for code, which is not one of the calls. */
const CODE = -1

/** The content of a reply, or of a delta, with calls that fit into the log. */
export function acceptCalls(ids: CallIds, content: Content | undefined, isDelta = false): Content {
  if (!content) return { role: 'model', parts: [] }
  const { parts } = content
  let count = isDelta ? ids.streamed : 0
  let accepted: Part[] | undefined // most replies need no change
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part
    const fit = part.functionCall ? acceptCall(ids, part, part.functionCall, count++) : part
    if (fit !== part) accepted ??= parts.slice(0, at)
    if (fit) accepted?.push(fit)
  }
  if (isDelta) ids.streamed = count
  else if (count > ids.maxCalls) accepted?.push(leftOutNote(ids, count))
  if (accepted) return { role: 'model', parts: accepted }
  return content.role === 'model' ? content : { role: 'model', parts }
}

/** The part of a call that fits into the log. Undefined if the reply has no room for the call. */
function acceptCall(ids: CallIds, part: Part, call: FunctionCall, at: number): Part | undefined {
  if (at >= ids.maxCalls) return undefined
  const name = clip(String(call.name), MAX_NAME_LENGTH)
  const args = storableArgs(call.args, ids.run.services.maxArgsBytes)
  return { ...part, functionCall: { ...call, id: ids.give(call.id, at), name, args } }
}

/** Says how many calls were left out. They cannot stay in the reply, because every call in a history needs a response. */
function leftOutNote({ run, maxCalls }: CallIds, count: number): Part {
  const { maxCallsPerReply } = run.services
  const text = `(${count - maxCalls} of ${count} calls were left out of this reply. One reply runs ${maxCallsPerReply} calls.)`
  return { text }
}

/**
 * The call ids of one reply. Calls without a valid id get a new one, the same in the deltas and in the final response.
 */
export class CallIds {
  /** The run of the reply. */
  readonly run: RunHost
  /** Calls in the deltas so far. */
  streamed = 0
  /** The id of each call, by the position of the call in the reply. */
  #ids: string[] | undefined
  /** The latest position of each id; `CODE` for code. */
  #positions: Map<string, number> | undefined
  constructor(run: RunHost) {
    this.run = run
    run.progress.replies.push(this)
  }
  /** Releases the ids: the reply is in the log, or never will be. */
  close(): void {
    removeFrom(this.run.progress.replies, this)
  }
  /** Most calls that one reply may have in the log. */
  get maxCalls(): number {
    return this.run.services.maxCallsPerReply * RECORDED_FACTOR
  }
  /** The id of the call at a position: the wanted one if it is valid and free. */
  give(wanted: unknown, at: number): string {
    this.#ids ??= []
    const id =
      isFitId(wanted) && this.#isFree(wanted, at) ? wanted : (this.#ids[at] ?? newOwnId(this.run.services.ports))
    this.#ids[at] = id
    this.#positions ??= new Map()
    this.#positions.set(id, at)
    return id
  }
  #isFree(id: string, at: number): boolean {
    return this.has(id) ? this.#positions?.get(id) === at : this.#isNew(id)
  }
  /** Claims an id for code of this reply. False if another call has it. */
  claim(id: string): boolean {
    if (this.has(id) || !this.#isNew(id)) return false
    this.#positions ??= new Map()
    this.#positions.set(id, CODE)
    return true
  }
  /** Makes a new id for code of this reply. */
  claimNew(): string {
    const id = newOwnId(this.run.services.ports)
    this.#positions ??= new Map()
    this.#positions.set(id, CODE)
    return id
  }
  /** Can the reply have one more call in the log? */
  hasRoom(): boolean {
    return (this.#positions?.size ?? 0) < this.maxCalls
  }
  /** Does a call or code of this reply have this id? */
  has(id: string): boolean {
    const at = this.#positions?.get(id)
    return at !== undefined && (at === CODE || this.#ids?.[at] === id) // a delta may have had another id at this position
  }
  /** Is the id new in the session? Replies of other scopes that are not recorded yet count too. */
  #isNew(id: string): boolean {
    if (this.run.view.hasId(id)) return false
    const { replies } = this.run.progress
    for (let at = 0; at < replies.length; at++) if (replies[at] !== this && replies[at]?.has(id)) return false
    return true
  }
}

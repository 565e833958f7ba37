import { clip, MAX_NAME_LENGTH } from '../../base/limits.ts'
import { registerShape } from '../../base/object-shapes.ts'
import type { Content, FunctionCall, Part } from '../../content/content.ts'
import { storableArgs } from '../../dispatch/args.ts'
import { newOwnId } from '../../event/own-id.ts'
import { isFitId } from '../request/sendable-calls.ts'
import type { RunHost } from './run-host.ts'

/** Calls recorded of one reply, as a multiple of those that run: the others are left out of it. */
const RECORDED_FACTOR = 8

const CODE = -1

/** Gives calls the ids they lack; the deltas of a reply and the whole have the same ones. */
export class CallIds {
  readonly #run: RunHost
  /** Ids by the place of their call in the reply. */
  #given: string[] | undefined
  /** The place each id was given to last; `CODE` for code. */
  #places: Map<string, number> | undefined
  /** Calls in the deltas so far. */
  #streamed = 0
  constructor(run: RunHost) {
    this.#run = run
    run.progress.replies.push(this)
  }
  /** Gives the ids up: the reply is in the log, or never will be. */
  close(): void {
    const { replies } = this.#run.progress
    replies.splice(replies.indexOf(this), 1)
  }
  /** Calls that one reply may have at most in the log. */
  get #most(): number {
    return this.#run.services.maxCallsPerReply * RECORDED_FACTOR
  }
  fill(content: Content | undefined, isDelta = false): Content {
    if (!content) return { role: 'model', parts: [] }
    const { parts } = content
    let calls = isDelta ? this.#streamed : 0
    let filled: Part[] | undefined // most replies are fit as they are
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part
      let fit: Part | undefined = part
      if (part.functionCall) fit = calls++ < this.#most ? this.#fillOne(part, part.functionCall, calls - 1) : undefined
      if (fit !== part) filled ??= parts.slice(0, at)
      if (fit) filled?.push(fit)
    }
    if (isDelta) this.#streamed = calls
    else if (calls > this.#most) filled?.push(this.#leftOut(calls))
    if (filled) return { role: 'model', parts: filled }
    return content.role === 'model' ? content : { role: 'model', parts }
  }
  /** Every call in a history needs a response: calls that get none are not in the reply either. */
  #leftOut(calls: number): Part {
    const { maxCallsPerReply } = this.#run.services
    const text = `(${calls - this.#most} of ${calls} calls were left out of this reply. One reply runs ${maxCallsPerReply} calls.)`
    return { text }
  }
  #fillOne(part: Part, call: FunctionCall, at: number): Part {
    const id: unknown = call.id
    const name = clip(String(call.name), MAX_NAME_LENGTH)
    const args = storableArgs(call.args, this.#run.services.maxArgsBytes)
    const fit = isFitId(id) && this.#isFree(id, at)
    this.#given ??= []
    const given = (fit ? id : undefined) ?? this.#given[at] ?? newOwnId(this.#run.services.ports)
    this.#given[at] = given
    this.#places ??= new Map()
    this.#places.set(given, at)
    return { ...part, functionCall: { ...call, id: given, name, args } }
  }
  #isFree(id: string, at: number): boolean {
    return this.has(id) ? this.#places?.get(id) === at : this.#isNew(id)
  }
  /** Takes an id for code of the same reply; false when it is another call's. */
  claim(id: string): boolean {
    if (this.has(id) || !this.#isNew(id)) return false
    this.#places ??= new Map()
    this.#places.set(id, CODE)
    return true
  }
  /** A new id for code. */
  claimNew(): string {
    const id = newOwnId(this.#run.services.ports)
    this.#places ??= new Map()
    this.#places.set(id, CODE)
    return id
  }
  /** May the reply have another call in the log? */
  hasRoom(): boolean {
    return (this.#places?.size ?? 0) < this.#most
  }
  has(id: string): boolean {
    const at = this.#places?.get(id)
    return at !== undefined && (at === CODE || this.#given?.[at] === id) // a delta may have had another id there
  }
  /** Ids name a call in its session. Replies of several scopes may be on their way to the log at the same time. */
  #isNew(id: string): boolean {
    if (this.#run.view.hasId(id)) return false
    const { replies } = this.#run.progress
    for (let at = 0; at < replies.length; at++) if (replies[at] !== this && replies[at]?.has(id)) return false
    return true
  }
}

registerShape(() => new CallIds({ progress: { replies: [] as unknown[] } } as RunHost))

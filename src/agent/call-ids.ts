import { isDeeperThan, isRecord, type JsonObject } from '../base/json.ts'
import { keepShape } from '../base/keep-shape.ts'
import { toPlain } from '../base/plain.ts'
import type { Content, FunctionCall, Part } from '../content/content.ts'
import { MAX_ARGS_DEPTH } from '../dispatch/prepare.ts'
import type { RunHost } from './run-host.ts'
import { isFitId } from './shown-calls.ts'

/** Gives calls the ids they lack; the deltas of a reply and the whole have the same ones. */
export class CallIds {
  readonly #run: RunHost
  #given: string[] | undefined
  #code: string[] | undefined
  /** Calls in the deltas so far. */
  #streamed = 0
  constructor(run: RunHost) {
    this.#run = run
    run.replies.push(this)
  }
  /** The reply is in the log, or never will be. */
  close(): void {
    const { replies } = this.#run
    replies.splice(replies.indexOf(this), 1)
  }
  fill(content: Content | undefined, isDelta = false): Content {
    if (!content) return { role: 'model', parts: [] }
    let calls = isDelta ? this.#streamed : 0
    let filled: Part[] | undefined // most replies are fit as they are
    for (let at = 0; at < content.parts.length; at++) {
      const part = content.parts[at] as Part
      const fit = part.functionCall ? this.#fillOne(part, part.functionCall, calls++) : part
      if (fit === part) continue
      filled ??= [...content.parts]
      filled[at] = fit
    }
    if (isDelta) this.#streamed = calls
    if (filled) return { role: 'model', parts: filled }
    return content.role === 'model' ? content : { role: 'model', parts: content.parts }
  }
  #fillOne(part: Part, call: FunctionCall, at: number): Part {
    const id: unknown = call.id
    const name = String(call.name)
    const args = fitArgs(call.args)
    const fit = isFitId(id) && this.#isFree(id, at)
    this.#given ??= []
    const given = (fit ? id : undefined) ?? this.#given[at] ?? this.#run.newCallId()
    this.#given[at] = given
    if (given === id && name === call.name && args === call.args) return part
    return { ...part, functionCall: { ...call, id: given, name, args } }
  }
  #isFree(id: string, at: number): boolean {
    const before = this.#given?.indexOf(id) ?? -1
    return (before < 0 || before === at) && this.#isNew(id)
  }
  /** Takes an id for code of the same reply; false when it is another call's. */
  take(id: string): boolean {
    if (this.has(id) || !this.#isNew(id)) return false
    this.#code ??= []
    this.#code.push(id)
    return true
  }
  has(id: string): boolean {
    return this.#given?.includes(id) || this.#code?.includes(id) || false
  }
  /** Ids name a call in its session. Replies of several scopes may be on their way to the log at the same time. */
  #isNew(id: string): boolean {
    if (this.#run.view.hasId(id)) return false
    const { replies } = this.#run
    for (let at = 0; at < replies.length; at++) if (replies[at] !== this && replies[at]?.has(id)) return false
    return true
  }
}

/** What can be stored. Dispatch refuses what had to be cut, and what is no object: half a JSON text must not pass for none. */
function fitArgs(args: unknown): JsonObject {
  if (args === undefined || args === null) return {}
  if (!isRecord(args)) return toPlain(args).value as JsonObject
  return isDeeperThan(MAX_ARGS_DEPTH, args) ? (toPlain(args).value as JsonObject) : args
}

keepShape(() => new CallIds({ replies: [] as unknown[] } as RunHost))

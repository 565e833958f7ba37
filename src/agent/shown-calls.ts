// What a model once said, as every provider takes it back: ids that are fit and used once, names that could be a tool's,
// arguments that are an object, no part that says nothing.
import { Few } from '../base/few.ts'
import { isRecord } from '../base/json.ts'
import { keepShape } from '../base/keep-shape.ts'
import type { FunctionCall, Part } from '../content/content.ts'
import { isPlace } from '../event/fold.ts'
import { nameProblem } from '../tool/tool.ts'

const FIT_ID = /^[a-zA-Z0-9_-]{1,64}$/

/** Can a new call have this id: does every provider take it, and no path for something else? */
export function isFitId(id: unknown): id is string {
  return isSendable(id) && !isPlace(id)
}

function isSendable(id: unknown): id is string {
  return typeof id === 'string' && FIT_ID.test(id)
}

export class ShownCalls {
  readonly #ids: Few<true> = new Few()

  /** The part itself when it is fit; undefined when there is nothing to show. */
  fit(part: Part): Part | undefined {
    if (part.functionCall) return this.#fitCall(part, part.functionCall)
    if (part.functionResponse || saysNull(part)) return undefined // a model answers no calls
    if (part.text === undefined) return isEmpty(part) ? undefined : part
    const isSilent = !/\S/.test(part.text) && part.thoughtSignature === undefined && part.partMetadata === undefined
    return isSilent ? undefined : part
  }

  #fitCall(part: Part, call: FunctionCall): Part {
    const id = isSendable(call.id) && !this.#ids.has(call.id) ? call.id : this.#newId(String(call.id ?? ''))
    this.#ids.set(id, true)
    const name = fitName(call.name)
    const args = isRecord(call.args) ? call.args : {}
    if (id === call.id && name === call.name && args === call.args) return part
    return { ...part, functionCall: { ...call, id, name, args } }
  }

  #newId(unfit: string): string {
    const like = unfit.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 48) || 'call'
    let n = 1
    while (this.#ids.has(`${like}_${n}`)) n++
    return `${like}_${n}`
  }
}

/** A name no tool can have, as one it could: nobody but a model ever called it that. */
function fitName(name: string): string {
  if (!nameProblem(name)) return name
  const like = String(name)
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(0, 64)
  return /^[a-zA-Z_]/.test(like) ? like : `_${like}`
}

function saysNull(part: Part): boolean {
  for (const key in part) if (part[key as keyof Part] === null) return true
  return false
}

function isEmpty(part: Part): boolean {
  for (const _ in part) return false
  return true
}

keepShape(new ShownCalls())

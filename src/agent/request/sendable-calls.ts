// What a model once said, as every provider takes it back: ids that are fit and used once, names that could be a tool's,
// arguments that are an object, no part that says nothing.
import { isRecord } from '../../base/json.ts'
import type { FunctionCall, Part } from '../../content/content.ts'
import { isReservedPathStep } from '../../event/fold.ts'
import { OWN_ID_PREFIX } from '../../event/own-id.ts'
import { REQUEST_PREFIX } from '../../event/request-names.ts'
import { TOOL_NAME } from '../../tool/tool.ts'

const FIT_ID = /^[a-zA-Z0-9_-]{1,64}$/

/** Can a model's new call have this id: every provider takes it, no path has it, and the framework makes none like it? */
export function isFitId(id: unknown): id is string {
  if (!isSendable(id) || id.startsWith(OWN_ID_PREFIX)) return false
  const first = id.charCodeAt(0)
  return (first !== 116 && first > 57) || !isReservedPathStep(id) // places begin with a digit or a t
}

/** Does every provider take it back? */
export function isSendable(id: unknown): id is string {
  return typeof id === 'string' && FIT_ID.test(id)
}

/**
 * The part itself when it is fit; undefined when there is nothing to show. `used`: the ids before it, where a log may hold
 * one twice.
 */
export function fitPart(part: Part, used: Set<string> | undefined): Part | undefined {
  if (part.functionCall) return fitCall(part, part.functionCall, used)
  if (part.functionResponse || saysNull(part)) return undefined // a model answers no calls
  if (part.text === undefined) return isEmpty(part) ? undefined : part
  const isSilent = !/\S/.test(part.text) && part.thoughtSignature === undefined && part.partMetadata === undefined
  return isSilent ? undefined : part
}

function fitCall(part: Part, call: FunctionCall, used: Set<string> | undefined): Part {
  const id = used ? ownId(call.id, used) : call.id
  const name = fitName(call.name)
  const args = isRecord(call.args) ? call.args : {}
  if (id === call.id && name === call.name && args === call.args) return part
  return { ...part, functionCall: { ...call, ...(id !== undefined && { id }), name, args } }
}

function ownId(id: unknown, used: Set<string>): string {
  const own = isSendable(id) && !used.has(id) ? id : newId(String(id ?? ''), used)
  used.add(own)
  return own
}

function newId(unfit: string, used: Set<string>): string {
  const like = unfit.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 48) || 'call'
  let n = 1
  while (used.has(`${like}_${n}`)) n++
  return `${like}_${n}`
}

/** A name no tool can have, as one it could: nobody but a model ever called it that. */
function fitName(name: string): string {
  if (typeof name === 'string' && TOOL_NAME.test(name) && !name.startsWith(REQUEST_PREFIX)) return name
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

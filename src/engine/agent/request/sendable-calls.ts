// Makes recorded replies valid for every provider: call ids are valid and unique, names are valid tool names, arguments
// are objects, and no part is empty.
import { isRecord } from '../../../core/base/json.ts'
import type { FunctionCall, Part } from '../../../core/content/content.ts'
import { isReservedPathStep } from '../../../core/event/invocation-state.ts'
import { OWN_ID_PREFIX } from '../../../core/event/own-id.ts'
import { REQUEST_PREFIX, TOOLSET_CALL_PREFIX } from '../../../core/event/request-names.ts'
import { TOOL_NAME } from '../../tool/tool.ts'

const FIT_ID = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * Can a new call of a model have this id? Every provider must accept it, and it must not look like an id of the
 * framework.
 */
export function isFitId(id: unknown): id is string {
  if (!isSendable(id) || id.startsWith(OWN_ID_PREFIX) || id.startsWith(TOOLSET_CALL_PREFIX)) return false
  const first = id.charCodeAt(0)
  return (first !== 116 && first > 57) || !isReservedPathStep(id) // reserved path steps begin with a digit or a t
}

/** Does every provider accept the id? */
export function isSendable(id: unknown): id is string {
  return typeof id === 'string' && FIT_ID.test(id)
}

/**
 * The part in a form that every provider accepts, unchanged if it is valid. Undefined if it is empty. `used` contains
 * the earlier call ids. It is only needed if the log may repeat an id.
 */
export function fitPart(part: Part, used: Set<string> | undefined): Part | undefined {
  if (part.functionCall) return fitCall(part, part.functionCall, used)
  if (part.functionResponse || hasNull(part)) return undefined // a model's reply has no tool responses
  if (part.text === undefined) return isEmpty(part) ? undefined : part
  const isBlank = !/\S/.test(part.text) && part.thoughtSignature === undefined && part.partMetadata === undefined
  return isBlank ? undefined : part
}

function fitCall(part: Part, call: FunctionCall, used: Set<string> | undefined): Part {
  const id = used ? uniqueId(call.id, used) : call.id
  const name = fitName(call.name)
  const args = isRecord(call.args) ? call.args : {}
  if (id === call.id && name === call.name && args === call.args) return part
  return { ...part, functionCall: { ...call, ...(id !== undefined && { id }), name, args } }
}

function uniqueId(id: unknown, used: Set<string>): string {
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

/** A valid tool name. Providers refuse a request with an invalid name, also one that a model invented. */
function fitName(name: string): string {
  if (typeof name === 'string' && TOOL_NAME.test(name) && !name.startsWith(REQUEST_PREFIX)) return name
  const like = String(name)
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(0, 64)
  return /^[a-zA-Z_]/.test(like) ? like : `_${like}`
}

function hasNull(part: Part): boolean {
  for (const key in part) if (part[key as keyof Part] === null) return true
  return false
}

function isEmpty(part: Part): boolean {
  for (const _ in part) return false
  return true
}

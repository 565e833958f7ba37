// What a human's answer says, in whatever of the accepted shapes it came.
import { canonicalJson, isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'

/** An answer to a confirmation. Only a literal `true` approves. */
export interface Decision {
  readonly confirmed: boolean
  readonly payload?: unknown
  /** Arguments the approver wants instead. */
  readonly args?: JsonObject
  readonly reason?: string
}

/** The fields of a decision; clients may send the hint of the request back. */
const FIELDS = new Set(['confirmed', 'payload', 'args', 'reason', 'hint'])

/**
 * What an approval says that would be dropped if it ran: arguments that are no object, or fields that are none of an
 * approval. The approver meant something by it, so it is refused. Undefined when there is nothing.
 */
export function findUnusableField(answer: JsonObject, shown: JsonObject): string | undefined {
  const { decision = {}, wrapper } = unwrap(answer)
  const { args } = decision
  if (args !== undefined && !isRecord(args)) return `"args" must be an object, got ${kindOf(args)}`
  const beside = wrapper === undefined ? [] : Object.entries(answer).filter(([key]) => key !== wrapper)
  const fields = Object.entries(decision).filter(([key]) => !FIELDS.has(key))
  for (const [key, value] of [...fields, ...beside]) {
    if (value === undefined || (key === 'originalFunctionCall' && isShownCall(value, shown))) continue
    return `"${key}" is no field of an approval (${[...FIELDS].join(', ')})`
  }
  return undefined
}

/** The call as it was shown may be sent back, unchanged. */
function isShownCall(call: unknown, shown: JsonObject): boolean {
  return isRecord(call) && canonicalJson(call.args ?? {}) === canonicalJson(shown)
}

/** `{ confirmed }`, `{ toolConfirmation: { confirmed } }`, `{ response: { confirmed } }`, and each as JSON text. */
export function decisionOf(answer: JsonObject): Decision {
  const { confirmed, payload, args, reason } = unwrap(answer).decision ?? {}
  return {
    confirmed: confirmed === true,
    ...(payload !== undefined && { payload }),
    ...(isRecord(args) && { args }),
    ...(typeof reason === 'string' && reason !== ''
      ? { reason }
      : typeof confirmed !== 'boolean' && { reason: 'the decision could not be read' }),
  }
}

/** The decision, and the key that held it when it was not the answer itself. */
function unwrap(answer: JsonObject): { decision?: JsonObject; wrapper?: string } {
  if (Object.hasOwn(answer, 'confirmed')) return { decision: answer }
  for (const wrapper of ['toolConfirmation', 'response']) {
    const decision = Object.hasOwn(answer, wrapper) ? asObject(answer[wrapper]) : undefined
    if (decision) return { decision, wrapper }
  }
  // a bare text is recorded as `{ result }`
  const decision = typeof answer.result === 'string' ? asObject(answer.result) : undefined
  return decision ? { decision, wrapper: 'result' } : {}
}

function asObject(value: unknown): JsonObject | undefined {
  if (isRecord(value)) return value
  if (typeof value !== 'string') return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return isRecord(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** Is it a no to a question: `{ declined: true, reason? }`, and not a value? */
export function declinedIn(answer: JsonObject): { readonly reason: string | undefined } | undefined {
  if (answer.declined !== true || Object.hasOwn(answer, 'result')) return undefined
  return { reason: typeof answer.reason === 'string' ? answer.reason : undefined }
}

/** The value of an answer to a question: the object, or what is in `{ result }`. */
export function inputOf(answer: JsonObject): unknown {
  const keys = Object.keys(answer)
  return keys.length === 1 && keys[0] === 'result' ? answer.result : answer
}

/** What a handle that waits for one of its options says. */
export function choiceIn(
  handle: JsonObject | undefined,
): { readonly prompt: unknown; readonly options: readonly unknown[] } | undefined {
  const { status, prompt, options } = handle ?? {}
  return status === 'awaiting_user' && Array.isArray(options) ? { prompt, options } : undefined
}

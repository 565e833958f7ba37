// Reads the answers of humans to requests, in every accepted shape.
import { canonicalJson, isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'

/** An answer to a confirmation. Only a literal `true` approves. */
interface Decision {
  /** True for an approval. */
  readonly confirmed: boolean
  /** Data of the approver for the body. */
  readonly payload?: unknown
  /** Edited arguments. */
  readonly args?: JsonObject
  /** Why the approver decided so. */
  readonly reason?: string
}

/** The fields of a decision. Clients may send back the `hint` of the request. */
const FIELDS = new Set(['confirmed', 'payload', 'args', 'reason', 'hint'])

/**
 * Describes the first field of an approval that cannot be used: `args` that is not an object, or an unknown field. Such
 * an approval is refused, because the approver expects the field to have an effect.
 */
export function findUnusableField(answer: JsonObject, shown: JsonObject): string | undefined {
  const { decision = {}, wrapper } = unwrap(answer)
  const { args } = decision
  if (args !== undefined && !isRecord(args)) return `"args" must be an object, got ${kindOf(args)}`
  const beside = wrapper === undefined ? [] : Object.entries(answer).filter(([key]) => key !== wrapper)
  const fields = Object.entries(decision).filter(([key]) => !FIELDS.has(key))
  for (const [key, value] of [...fields, ...beside]) {
    if (value === undefined || (key === 'originalFunctionCall' && isShownCall(value, shown))) continue
    return `"${key}" is not a field of an approval. The fields are ${[...FIELDS].join(', ')}`
  }
  return undefined
}

/** Is it the call the approver saw? Clients may send that call back unchanged. */
function isShownCall(call: unknown, shown: JsonObject): boolean {
  return isRecord(call) && canonicalJson(call.args ?? {}) === canonicalJson(shown)
}

/** Reads a decision from `{ confirmed }`, `{ toolConfirmation: { confirmed } }`, `{ response: { confirmed } }`, and each as JSON text. */
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

/** The question that an answer to a confirmation was given to; undefined when it does not say. */
export function hintIn(answer: JsonObject): string | undefined {
  const hint = unwrap(answer).decision?.hint
  return typeof hint === 'string' ? hint : undefined
}

/** The form in which a decision is recorded, with the question that the approver was asked. Old logs have every shape of answers. */
export function recordDecision(answer: JsonObject, hint?: string): JsonObject {
  return { ...decisionOf(answer), ...(hint !== undefined && { hint }) }
}

/** Do both answers decide the same? What their clients say about the question does not count. */
export function isSameDecision(one: JsonObject, other: JsonObject): boolean {
  return canonicalJson(recordDecision(one)) === canonicalJson(recordDecision(other))
}

/** The decision, and the key that held it when it was not the answer itself. */
function unwrap(answer: JsonObject): { decision?: JsonObject; wrapper?: string } {
  if (Object.hasOwn(answer, 'confirmed')) return { decision: answer }
  for (const wrapper of ['toolConfirmation', 'response']) {
    const decision = Object.hasOwn(answer, wrapper) ? asObject(answer[wrapper]) : undefined
    if (decision) return { decision, wrapper }
  }
  // text is recorded as `{ result }`
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

/** The form in which an answer that declines is recorded. */
export function recordDecline({ reason }: { readonly reason: string | undefined }): JsonObject {
  return { declined: true, ...(reason !== undefined && { reason }) }
}

/** The reason in `{ declined: true, reason? }`; undefined when the answer to an input request is a value. */
export function declinedIn(answer: JsonObject): { readonly reason: string | undefined } | undefined {
  if (answer.declined !== true || Object.hasOwn(answer, 'result')) return undefined
  return { reason: typeof answer.reason === 'string' ? answer.reason : undefined }
}

/** The value of an answer to an input request: the object itself, or the value in `{ result }`. */
export function inputOf(answer: JsonObject): unknown {
  const keys = Object.keys(answer)
  return keys.length === 1 && keys[0] === 'result' ? answer.result : answer
}

/** The prompt and options of a handle that waits for a choice; undefined for other handles. */
export function choiceIn(
  handle: JsonObject | undefined,
): { readonly prompt: unknown; readonly options: readonly unknown[] } | undefined {
  const { status, prompt, options } = handle ?? {}
  return status === 'awaiting_user' && Array.isArray(options) ? { prompt, options } : undefined
}

/** The recorded answer to a credential request. The code and the tokens are never in it. */
type ConsentStatus = 'authorized' | 'failed' | 'expired'

/** The `status` of an answer to a credential request that is not pending. It stands for any code, and is never recorded. */
export const REPEATED = 'repeated'

/** What became of a credential request: its consent, a decline, or an error. Undefined for an answer of another shape. */
export function consentIn(answer: JsonObject): { readonly status: ConsentStatus; readonly error?: string } | undefined {
  const { status, error } = answer
  if (status !== 'authorized' && status !== 'failed' && status !== 'expired') return undefined
  return { status, ...(typeof error === 'string' && { error }) }
}

// What a human's answer says, in whatever of the accepted shapes it came.
import { isRecord, type JsonObject } from '../base/json.ts'

/** An answer to a confirmation. Only a literal `true` approves. */
export interface Decision {
  readonly confirmed: boolean
  readonly payload?: unknown
  /** Arguments the approver wants instead. */
  readonly args?: JsonObject
  readonly reason?: string
}

/** `{ confirmed }`, `{ toolConfirmation: { confirmed } }`, `{ response: { confirmed } }`, and each as JSON text. */
export function decisionOf(answer: JsonObject): Decision {
  const said = unwrapped(answer)
  const { confirmed, payload, args, reason } = said ?? {}
  return {
    confirmed: confirmed === true,
    ...(payload !== undefined && { payload }),
    ...(isRecord(args) && { args }),
    ...(typeof reason === 'string' && reason !== ''
      ? { reason }
      : typeof confirmed !== 'boolean' && { reason: 'the decision could not be read' }),
  }
}

function unwrapped(answer: JsonObject): JsonObject | undefined {
  if (Object.hasOwn(answer, 'confirmed')) return answer
  for (const key of ['toolConfirmation', 'response']) {
    const inner = Object.hasOwn(answer, key) ? readable(answer[key]) : undefined
    if (inner) return inner
  }
  // a bare text is recorded as `{ result }`
  return typeof answer.result === 'string' ? readable(answer.result) : undefined
}

function readable(value: unknown): JsonObject | undefined {
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

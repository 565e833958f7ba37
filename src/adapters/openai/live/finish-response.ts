import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { hideSecrets } from '../../../core/error/hide-secrets.ts'
import type { LiveServerMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import type { CallLedger } from './call-ledger.ts'
import type { ReplyRequests } from './reply-requests.ts'
import type { ToolNames } from './tool-names.ts'
import { toUsage } from './usage.ts'

/** What is needed to finish a response. */
export interface FinishState {
  /** Starts and tracks responses. */
  readonly replies: ReplyRequests
  /** The tool calls. */
  readonly calls: CallLedger
  /** Tool names as OpenAI accepts them. */
  readonly names: ToolNames
  /** The response that the user interrupted. What still arrives of it is not delivered. */
  interruptedId: string | undefined
}

/** The call of an item, the first time it is seen. Undefined for other items and for calls that were cut off. */
export function readCall(item: unknown, responseId: string, { calls, names }: FinishState): LiveToolCall | undefined {
  if (!isRecord(item) || item.type !== 'function_call') return undefined
  const { call_id: id, name, status } = item
  const isCutOff = status !== undefined && status !== 'completed'
  if (isCutOff || typeof id !== 'string' || typeof name !== 'string') return undefined
  const toolName = names.fromProvider(name)
  if (calls.add(responseId, id, toolName) === undefined) return undefined
  return { id, name: toolName, args: readArguments(item.arguments) }
}

/** Reads `response.done`: calls that no other event had, token counts, and how the response ended. */
export function finishResponse({ response }: JsonObject, state: FinishState): LiveServerMessage[] {
  if (!isRecord(response)) return []
  const { replies, calls } = state
  const id = typeof response.id === 'string' ? response.id : undefined
  const output = Array.isArray(response.output) ? response.output : []
  const missed = output.flatMap((item) => readCall(item, id ?? '', state) ?? [])
  const usageMetadata = toUsage(response.usage)
  const { hasCalls, isAnswered } = calls.complete(id ?? '')
  const messages: LiveServerMessage[] = [
    ...(missed.length > 0 ? [{ type: 'toolCall', calls: missed } as const] : []),
    ...(usageMetadata ? [{ type: 'usage', usageMetadata } as const] : []),
    ...readEnd(response, { hasCalls, isInterrupted: id !== undefined && state.interruptedId === id }),
  ]
  if (state.interruptedId === id) state.interruptedId = undefined
  if (isAnswered) replies.request(undefined)
  replies.finished(id)
  return messages
}

function readEnd(
  { status, status_details }: JsonObject,
  { hasCalls, isInterrupted }: { readonly hasCalls: boolean; readonly isInterrupted: boolean },
): LiveServerMessage[] {
  const details = isRecord(status_details) ? status_details : {}
  switch (status) {
    case 'cancelled':
      return [...(isInterrupted ? [] : [{ type: 'interrupted' } as const]), { type: 'turnComplete' }]
    case 'failed': {
      const error = isRecord(details.error) ? details.error : {}
      const text = typeof error.message === 'string' ? error.message : 'The response failed.'
      const code = [error.code, error.type, status].find((one) => typeof one === 'string') as string // `status` is one
      return [{ type: 'error', message: hideSecrets(text), code }, { type: 'turnComplete' }]
    }
    case 'incomplete': {
      const reason = typeof details.reason === 'string' ? details.reason : 'an unknown reason'
      const message = `The reply of the model is incomplete: ${reason}.`
      return [{ type: 'error', message, code: reason }, { type: 'generationComplete' }, { type: 'turnComplete' }]
    }
    default:
      // after tool calls the turn continues: the model replies when it has the outputs
      return [{ type: 'generationComplete' }, ...(hasCalls ? [] : [{ type: 'turnComplete' } as const])]
  }
}

/** The arguments of a call. Text that is not JSON is kept: dispatch rejects it, and the model can try again. */
function readArguments(text: unknown): JsonObject {
  if (text === undefined || text === '') return {}
  try {
    return typeof text === 'string' ? JSON.parse(text) : (text as JsonObject) // dispatch checks it
  } catch {
    return text as JsonObject // deliberately not an object: dispatch must reject it
  }
}

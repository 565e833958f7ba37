// Reads the messages of the Gemini Live API. One message may have several keys: every key that is known is read.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Ports } from '../../../core/base/ports.ts'
import { newOwnId } from '../../../core/event/own-id.ts'
import type { LiveServerMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import { readModelTurn } from './model-turn.ts'

type Messages = LiveServerMessage[]

/** Converts a message of the service. What ends a turn comes last. Unknown keys are ignored. */
export function readServerMessage(message: JsonObject, ports: Pick<Ports, 'newId'>): Messages {
  const content = isRecord(message.serverContent) ? message.serverContent : {}
  return [
    ...readActivity(message),
    ...(content.interrupted === true ? [{ type: 'interrupted' } as const] : []),
    ...readTranscript('inputTranscript', content.inputTranscription),
    ...readModelTurn(content.modelTurn),
    ...readTranscript('outputTranscript', content.outputTranscription),
    ...readGrounding(content.groundingMetadata),
    ...readCalls(message.toolCall, ports),
    ...readCancellation(message.toolCallCancellation),
    ...(content.generationComplete === true ? [{ type: 'generationComplete' } as const] : []),
    ...readUsage(message.usageMetadata),
    ...readEndOfTurn(content),
    ...readResumption(message.sessionResumptionUpdate),
    ...readGoAway(message.goAway),
    ...readError(message.error),
  ]
}

/** Both the Gemini API and Vertex AI have two messages for this, with different names of the values. */
function readActivity({ voiceActivity, voiceActivityDetectionSignal }: JsonObject): Messages {
  const activity = isRecord(voiceActivity) ? (voiceActivity.voiceActivityType ?? voiceActivity.type) : undefined
  const signal = isRecord(voiceActivityDetectionSignal) ? voiceActivityDetectionSignal.vadSignalType : undefined
  const name = String(activity ?? signal ?? '')
  if (/(^|_)(START|SOS)$/.test(name)) return [{ type: 'activity', state: 'start' }]
  return /(^|_)(END|EOS)$/.test(name) ? [{ type: 'activity', state: 'end' }] : []
}

function readTranscript(type: 'inputTranscript' | 'outputTranscript', given: unknown): Messages {
  if (!isRecord(given)) return []
  const text = typeof given.text === 'string' ? given.text : ''
  if (given.finished === true) return [{ type, text, finished: true }]
  return text === '' ? [] : [{ type, text }]
}

function readGrounding(groundingMetadata: unknown): Messages {
  if (!isRecord(groundingMetadata) || Object.keys(groundingMetadata).length === 0) return []
  return [{ type: 'grounding', groundingMetadata }]
}

function readCalls(toolCall: unknown, ports: Pick<Ports, 'newId'>): Messages {
  const given = isRecord(toolCall) && Array.isArray(toolCall.functionCalls) ? toolCall.functionCalls : []
  const calls = given.filter(isRecord).map(
    ({ id, name, args }): LiveToolCall => ({
      id: typeof id === 'string' && id !== '' ? id : newOwnId(ports),
      name: typeof name === 'string' ? name : '',
      args: isRecord(args) ? args : {},
    }),
  )
  return calls.length ? [{ type: 'toolCall', calls }] : []
}

function readCancellation(cancellation: unknown): Messages {
  const given = isRecord(cancellation) && Array.isArray(cancellation.ids) ? cancellation.ids : []
  const ids = given.filter((id) => typeof id === 'string')
  return ids.length ? [{ type: 'toolCancelled', ids }] : []
}

/** The token counts. The Gemini API calls the output of live models `responseTokenCount`; events have one name for it. */
function readUsage(given: unknown): Messages {
  if (!isRecord(given)) return []
  const { responseTokenCount, candidatesTokenCount = responseTokenCount } = given
  const isRenamed = candidatesTokenCount !== undefined
  return [{ type: 'usage', usageMetadata: isRenamed ? { ...given, candidatesTokenCount } : given }]
}

/** Reasons that are no fault of the reply. */
const USUAL_REASONS = new Set(['TURN_COMPLETE_REASON_UNSPECIFIED', 'NEED_MORE_INPUT'])

function readEndOfTurn({ turnComplete, turnCompleteReason: code }: JsonObject): Messages {
  if (turnComplete !== true) return []
  if (typeof code !== 'string' || USUAL_REASONS.has(code)) return [{ type: 'turnComplete' }]
  return [{ type: 'error', message: `Gemini ended its turn early: ${code}.`, code }, { type: 'turnComplete' }]
}

function readResumption(update: unknown): Messages {
  if (!isRecord(update)) return []
  const { newHandle, resumable } = update
  const isUsable = resumable !== false && typeof newHandle === 'string' && newHandle !== ''
  return [{ type: 'resumption', handle: isUsable ? newHandle : undefined }]
}

function readGoAway(goAway: unknown): Messages {
  if (!isRecord(goAway)) return []
  const seconds = Number.parseFloat(String(goAway.timeLeft ?? '0'))
  return [{ type: 'goAway', timeLeftMs: seconds > 0 ? Math.round(seconds * 1_000) : 0 }]
}

function readError(error: unknown): Messages {
  if (!isRecord(error)) return []
  const code = error.status ?? error.code
  const message = typeof error.message === 'string' ? error.message : 'Gemini reports an error without a message.'
  return [{ type: 'error', message, ...(code !== undefined && { code: String(code) }) }]
}

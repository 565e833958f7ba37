import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** What the transport needs to know of the session's settings. */
export interface SessionState {
  /** The type of the user's audio: `audio/pcm`, `audio/pcmu` or `audio/pcma`. */
  readonly inputType: string
  /** The media type of the model's audio, with its rate. */
  readonly outputMimeType: string
  /** Does the provider detect where the user starts and stops speaking? */
  readonly detectsTurns: boolean
  /** Does the provider reply by itself when the user stops speaking? */
  readonly repliesToSpeech: boolean
  /** Does the provider stop its reply when the user starts speaking? */
  readonly stopsForSpeech: boolean
}

/** The settings of a session that the provider reports. Members that it does not report have the defaults of the API. */
export function readSessionState(session: unknown): SessionState {
  const audio = member(session, 'audio')
  const input = member(audio, 'input')
  const format = member(member(audio, 'output'), 'format')
  const turns: unknown = input.turn_detection
  const detectsTurns = turns !== null
  return {
    inputType: textOr(member(input, 'format').type, PCM),
    outputMimeType: toMimeType(format),
    detectsTurns,
    repliesToSpeech: detectsTurns && (!isRecord(turns) || turns.create_response !== false),
    stopsForSpeech: detectsTurns && (!isRecord(turns) || turns.interrupt_response !== false),
  }
}

/** The media type of 16-bit samples. */
export const PCM = 'audio/pcm'

/** The only rate of `audio/pcm` that the API knows. */
export const PCM_RATE = 24_000

function toMimeType(format: JsonObject): string {
  const type = textOr(format.type, PCM)
  return type === PCM ? `${PCM};rate=${typeof format.rate === 'number' ? format.rate : PCM_RATE}` : type
}

function member(value: unknown, key: string): JsonObject {
  const found = isRecord(value) ? value[key] : undefined
  return isRecord(found) ? found : {}
}

const textOr = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback)

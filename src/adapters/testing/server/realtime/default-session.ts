import { isRecord, type JsonObject } from '../../../../core/base/json.ts'

/** The settings of a new session. */
export function defaultSession(model: string): JsonObject {
  const format = { type: 'audio/pcm', rate: 24_000 }
  return {
    type: 'realtime',
    object: 'realtime.session',
    id: 'sess_1',
    model,
    output_modalities: ['audio'],
    instructions: '',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    audio: {
      input: {
        format,
        transcription: null,
        noise_reduction: null,
        turn_detection: {
          type: 'server_vad',
          threshold: 0.5,
          prefix_padding_ms: 300,
          silence_duration_ms: 200,
          idle_timeout_ms: null,
          create_response: true,
          interrupt_response: true,
        },
      },
      output: { format, voice: 'alloy', speed: 1 },
    },
  }
}

/** The settings after an update. Members that the update does not have stay as they are. */
export function updateSession(session: JsonObject, update: JsonObject): JsonObject {
  const audio = isRecord(session.audio) ? session.audio : {}
  const change = isRecord(update.audio) ? update.audio : {}
  return {
    ...session,
    ...update,
    audio: {
      input: { ...asRecord(audio.input), ...asRecord(change.input) },
      output: { ...asRecord(audio.output), ...asRecord(change.output) },
    },
  }
}

/** Does the session reply to speech (`create_response`), or stop its reply for it (`interrupt_response`)? */
export function isTurnSetting(session: JsonObject, setting: 'create_response' | 'interrupt_response'): boolean {
  const turns = asRecord(asRecord(session.audio).input).turn_detection
  return turns !== null && asRecord(turns)[setting] !== false
}

const asRecord = (value: unknown): JsonObject => (isRecord(value) ? value : {})

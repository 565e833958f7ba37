import { base64ByteLength } from '../../../../core/base/base64.ts'
import { isRecord, type JsonObject } from '../../../../core/base/json.ts'

/** A frame of a client: a message without its media, and the number of audio bytes. Undefined: the frame is no JSON object. */
export function readFrame(data: unknown): { message: JsonObject; audioBytes: number } | undefined {
  const message = parse(String(data))
  if (!isRecord(message)) return undefined
  const { realtimeInput } = message
  if (!isRecord(realtimeInput)) return { message, audioBytes: 0 }
  const withoutMedia: JsonObject = { ...realtimeInput }
  for (const field of ['audio', 'video']) {
    if (isRecord(realtimeInput[field])) withoutMedia[field] = summarizeMedia(realtimeInput[field])
  }
  const { audio } = withoutMedia
  const audioBytes = isRecord(audio) ? Number(audio.bytes) : 0
  return { message: { ...message, realtimeInput: withoutMedia }, audioBytes }
}

/** Replaces `data` with its number of bytes. A server for load tests cannot keep the audio of every client. */
function summarizeMedia({ data, ...others }: JsonObject): JsonObject {
  return { ...others, bytes: typeof data === 'string' ? base64ByteLength(data) : 0 }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { type Content, hasParts } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import { toContent } from '../../../engine/runner/request-rules.ts'

/** What the app sends for the user. */
export type LiveMessage =
  | string
  /** Speech. Default: 16-bit PCM, mono, 16 kHz. */
  | { readonly audio: Uint8Array; readonly mimeType?: string | undefined }
  /** One picture of a camera or screen. Default `image/jpeg`. */
  | { readonly video: Uint8Array; readonly mimeType?: string | undefined }
  /** Messages of the conversation. With `turnComplete` false the model does not reply yet. Default true. */
  | { readonly content: Content | readonly Content[]; readonly turnComplete?: boolean | undefined }
  /** The user starts or stops to speak, if the model does not detect it. */
  | { readonly activity: 'start' | 'end' }

/** The most bytes of one audio message: more than half a minute. */
const MAX_AUDIO_BYTES = 1024 * 1024
/** The most bytes of one picture. */
const MAX_VIDEO_BYTES = 8 * 1024 * 1024

type SentMessage = Exclude<LiveClientMessage, { type: 'toolResponses' | 'update' }>

/** Checks a message of the app. Throws INVALID_REQUEST or TOO_LARGE. */
export function readLiveMessage(message: LiveMessage): SentMessage {
  if (typeof message === 'string') {
    toContent(message) // checks the size
    return { type: 'text', text: message }
  }
  if (!isRecord(message)) throw invalid(kindOf(message))
  const { audio, video, content, activity, mimeType, turnComplete } = message as Partial<{
    audio: unknown
    video: unknown
    content: unknown
    activity: unknown
    mimeType: unknown
    turnComplete: unknown
  }>
  const type = typeof mimeType === 'string' ? mimeType : undefined
  if (audio instanceof Uint8Array) {
    return { type: 'audio', data: sized(audio, MAX_AUDIO_BYTES, 'audio'), mimeType: type ?? 'audio/pcm;rate=16000' }
  }
  if (video instanceof Uint8Array) {
    return { type: 'video', data: sized(video, MAX_VIDEO_BYTES, 'video'), mimeType: type ?? 'image/jpeg' }
  }
  if (activity === 'start' || activity === 'end') return { type: 'activity', state: activity }
  for (const [member, bytes] of Object.entries({ audio, video })) {
    if (bytes !== undefined) throw invalid(`{ ${member} } with ${nameOf(bytes)} instead of a Uint8Array`)
  }
  if (content === undefined) throw invalid(kindOf(message))
  const contents: unknown[] = [content].flat()
  if (contents.length === 0 || !contents.every(isUserContent))
    throw invalid("{ content } that is not { role: 'user', parts } with text and media")
  return { type: 'content', contents: contents.map((one) => toContent(one)), turnComplete: turnComplete !== false }
}

/** A user sends text and media. Calls and responses of tools are not theirs to send. */
function isUserContent(content: unknown): content is Content {
  if (!hasParts(content) || (content as Content).role !== 'user') return false
  return (content as Content).parts.every(({ functionCall, functionResponse }) => !functionCall && !functionResponse)
}

/** Samples are often an Int16Array, and bytes a base64 text. */
function nameOf(bytes: unknown): string {
  if (ArrayBuffer.isView(bytes))
    return `${bytes.constructor.name} (pass new Uint8Array(it.buffer, it.byteOffset, it.byteLength))`
  return bytes instanceof ArrayBuffer ? 'an ArrayBuffer (pass new Uint8Array(it))' : kindOf(bytes)
}

function sized(data: Uint8Array, most: number, what: string): Uint8Array {
  if (data.byteLength <= most) return data
  throw new ToolwrightError(
    'TOO_LARGE',
    `send(): ${what} has ${data.byteLength} bytes, and one message may have ${most}. Send it in smaller pieces.`,
  )
}

function invalid(got: string): ToolwrightError {
  const forms = "a text, { audio }, { video, mimeType }, { content } with role 'user', or { activity: 'start' | 'end' }"
  return new ToolwrightError('INVALID_REQUEST', `send() takes ${forms}, got ${got}.`)
}

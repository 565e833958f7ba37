import type { LiveMessage } from '../../../adapters/live/session/live-message.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { jsonShapeProblem } from '../guard/json-shape.ts'
import { readContent as readWireContent } from '../wire/read-content.ts'

/** What a client of `/run_live` sends. */
export type ClientFrame =
  | { readonly type: 'message'; readonly message: Exclude<LiveMessage, string> }
  | { readonly type: 'answers'; readonly answers: readonly Part[] }
  | { readonly type: 'close' }
  /** A frame that says nothing. */
  | { readonly type: 'none' }

/** The type that adk-web gives to its audio. */
const PLAIN_PCM = 'audio/pcm'

/**
 * Reads a frame of a client: `{ content }`, `{ blob }`, `{ activityStart }`, `{ activityEnd }` and `{ close: true }` as ADK clients
 * write them, in both cases, and `{ answer }` with the response to a pending request. Throws `INVALID_REQUEST`.
 */
export function readFrame(text: string): ClientFrame {
  const frame = parse(text)
  const read = (camel: string, snake: string): unknown => frame[camel] ?? frame[snake] ?? undefined
  if (frame.close === true) return { type: 'close' }
  if (isRecord(frame.answer)) return { type: 'answers', answers: [readAnswer(frame.answer)] }
  if (isRecord(frame.content)) return readContent(frame.content)
  if (isRecord(frame.blob)) return { type: 'message', message: readBlob(frame.blob) }
  if (read('activityStart', 'activity_start') !== undefined) return { type: 'message', message: { activity: 'start' } }
  if (read('activityEnd', 'activity_end') !== undefined) return { type: 'message', message: { activity: 'end' } }
  if (Object.values(frame).every((value) => value === null || value === false)) return { type: 'none' }
  throw invalid('has none of content, blob, activityStart, activityEnd, answer and close')
}

function readAnswer({ id, name, response }: JsonObject): Part {
  if (typeof id !== 'string' || typeof name !== 'string' || !isRecord(response))
    throw invalid('has an answer without id, name and response')
  return { functionResponse: { id, name, response } }
}

/** The responses in a content are answers. The runner checks what they answer, and the session the rest. */
function readContent(given: JsonObject): ClientFrame {
  const content = readWireContent(given, 'content')
  const { parts } = content
  const answers = parts.filter(({ functionResponse }) => isRecord(functionResponse))
  if (answers.length === 0) return { type: 'message', message: { content } }
  if (answers.length < parts.length) throw invalid('mixes answers with other parts')
  return { type: 'answers', answers }
}

function readBlob(blob: JsonObject): Exclude<LiveMessage, string> {
  const { data } = blob
  const mimeType = blob.mimeType ?? blob.mime_type
  if (typeof data !== 'string' || typeof mimeType !== 'string')
    throw invalid('has a blob without data in base64 and mimeType')
  const bytes = new Uint8Array(Buffer.from(data, 'base64')) // also the URL-safe form
  if (mimeType.startsWith('audio/')) return mimeType === PLAIN_PCM ? { audio: bytes } : { audio: bytes, mimeType }
  if (mimeType.startsWith('image/')) return { video: bytes, mimeType }
  throw invalid('has a blob that is neither audio nor an image')
}

function parse(text: string): JsonObject {
  const problem = jsonShapeProblem(text)
  if (problem !== undefined) throw invalid(`has ${problem}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid('is not JSON')
  }
  if (!isRecord(value)) throw invalid('is not an object')
  return value
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `The frame ${problem}.`)
}

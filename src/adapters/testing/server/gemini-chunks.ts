// Converts a scripted reply to the responses that Gemini would send.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { GeminiReply } from '../gemini-script.ts'

/** The chunks of a stream. The last chunk has the finish reason and the token counts. */
export function toChunks(reply: GeminiReply, model: string): JsonObject[] {
  const pieces = reply.chunks ?? [toParts(reply)]
  return pieces.map((piece, at) => {
    if (typeof piece !== 'string' && !isList(piece)) return piece
    const parts = typeof piece === 'string' ? [{ text: piece }] : piece
    const chunk = { candidates: [toCandidate(parts)], modelVersion: model, responseId: 'response-1' }
    return at === pieces.length - 1 ? finishChunk(chunk, parts, reply) : chunk
  })
}

/** The chunks as one response. */
export function joinChunks(chunks: readonly JsonObject[]): JsonObject {
  const candidates = chunks.flatMap((chunk) => (Array.isArray(chunk.candidates) ? chunk.candidates.slice(0, 1) : []))
  const whole = Object.assign({}, ...chunks)
  if (candidates.length < 2) return whole
  const parts = candidates.flatMap(({ content }) => (isRecord(content) && isList(content.parts) ? content.parts : []))
  return { ...whole, candidates: [{ ...Object.assign({}, ...candidates), content: { role: 'model', parts } }] }
}

function toParts({ parts = [], text, calls = [] }: GeminiReply): readonly Part[] {
  return [
    ...parts,
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, args = {}, id, thoughtSignature }) => ({
      functionCall: { ...(id !== undefined && { id }), name, args },
      ...(thoughtSignature !== undefined && { thoughtSignature }),
    })),
  ]
}

function toCandidate(parts: readonly Part[]): JsonObject {
  return parts.length ? { content: { role: 'model', parts }, index: 0 } : { index: 0 }
}

function finishChunk(chunk: JsonObject, parts: readonly Part[], reply: GeminiReply): JsonObject {
  const { finishReason = 'STOP', response, fault } = reply
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 }
  const reason = fault?.type === 'unfinished' ? {} : { finishReason }
  return {
    ...chunk,
    usageMetadata,
    candidates: [{ ...toCandidate(parts), ...reason, ...reply.candidate }],
    ...response,
  }
}

// Array.isArray does not narrow readonly arrays
const isList = (value: unknown): value is readonly Part[] => Array.isArray(value)

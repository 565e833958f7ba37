import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import { readPart } from '../reply/parts.ts'
import { decodeBase64 } from './decode-base64.ts'

/** The messages of the parts that the model generated: audio, text and others. */
export function readModelTurn(modelTurn: unknown): LiveServerMessage[] {
  const parts = isRecord(modelTurn) && Array.isArray(modelTurn.parts) ? modelTurn.parts : []
  return parts.flatMap((part) => (isRecord(part) ? readModelPart(part) : []))
}

function readModelPart(raw: JsonObject): LiveServerMessage[] {
  const { text, thought, inlineData } = raw
  if (typeof text === 'string' && text !== '')
    return [thought === true ? { type: 'text', text, thought } : { type: 'text', text }]
  if (isRecord(inlineData)) return readMedia(inlineData)
  // calls arrive in messages of their own
  if (raw.functionCall !== undefined || raw.functionResponse !== undefined) return []
  const part = readPart(raw)
  return part === undefined || part.text !== undefined ? [] : [{ type: 'part', part }]
}

function readMedia({ mimeType, data }: JsonObject): LiveServerMessage[] {
  if (typeof mimeType !== 'string' || typeof data !== 'string' || data === '') return []
  if (!mimeType.startsWith('audio/')) return [{ type: 'part', part: { inlineData: { mimeType, data } } }]
  const bytes = decodeBase64(data)
  if (bytes) return [{ type: 'audio', data: bytes, mimeType }]
  return [{ type: 'error', message: 'Gemini sent audio that is not base64. The audio is skipped.' }]
}

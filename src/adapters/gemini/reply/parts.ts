import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'

/** Reads a part of a reply. Undefined when the part is empty. */
export function readPart(raw: unknown): Part | undefined {
  if (!isRecord(raw)) return undefined
  const part: JsonObject = {}
  for (const field of Object.keys(raw)) if (raw[field] !== null && raw[field] !== undefined) part[field] = raw[field]
  if (isRecord(part.functionCall)) part.functionCall = readCall(part.functionCall)
  if (isRecord(part.executableCode)) part.executableCode = readCode(part.executableCode)
  const fields = Object.keys(part).filter((field) => field !== 'thought')
  if (fields.length === 0 || (fields.length === 1 && part.text === '')) return undefined
  // Gemini omits an empty text even if the part has a signature
  if (fields.length === 1 && part.thoughtSignature !== undefined) part.text = ''
  return part
}

function readCall({ id, name, args }: JsonObject): JsonObject {
  return {
    ...(typeof id === 'string' && id !== '' && { id }),
    name: String(name ?? ''),
    args: isRecord(args) ? args : {},
  }
}

function readCode(code: JsonObject): JsonObject {
  return { ...code, language: String(code.language ?? 'PYTHON'), code: String(code.code ?? '') }
}

/** Appends a part. Text is merged with a preceding text of the same kind. */
export function appendPart(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (last && isPlainText(last) && isPlainText(part) && (last.thought ?? false) === (part.thought ?? false)) {
    parts[parts.length - 1] = { ...last, text: `${last.text}${part.text}` }
  } else parts.push(part)
}

/** Whether a part is only text. A part with a signature is never merged: the signature belongs to that part. */
function isPlainText(part: Part): boolean {
  return part.text !== undefined && Object.keys(part).every((field) => field === 'text' || field === 'thought')
}

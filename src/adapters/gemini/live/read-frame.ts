import { isRecord, type JsonObject } from '../../../core/base/json.ts'

const decoder = new TextDecoder()

/** Parses a frame of the service, text or binary. Undefined if it is no JSON object. */
export function readFrame(data: unknown): JsonObject | undefined {
  const text = typeof data === 'string' ? data : isBytes(data) ? decoder.decode(data) : ''
  try {
    const message: unknown = JSON.parse(text)
    return isRecord(message) ? message : undefined
  } catch {
    return undefined
  }
}

function isBytes(data: unknown): data is ArrayBuffer | ArrayBufferView {
  return data instanceof ArrayBuffer || ArrayBuffer.isView(data)
}

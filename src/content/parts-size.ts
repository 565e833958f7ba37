import { jsonSize } from '../base/json.ts'
import type { Part } from './content.ts'

/** The approximate size of parts as JSON, in bytes. Stops counting above `limit`. Text parts, the most common ones, are fast. */
export function partsSize(parts: readonly Part[], limit: number): number {
  let bytes = 2
  for (let at = 0; at < parts.length && bytes <= limit; at++) {
    const part = parts[at] as Part
    bytes += isText(part) ? part.text.length + 12 : jsonSize(part, limit - bytes)
  }
  return bytes
}

function isText(part: Part): part is Part & { readonly text: string } {
  if (typeof part?.text !== 'string') return false
  for (const key in part) if (key !== 'text' && key !== 'thought') return false
  return true
}

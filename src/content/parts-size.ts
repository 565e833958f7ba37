import { jsonSize } from '../base/json.ts'
import type { Part } from './content.ts'

/** About the size of parts as JSON, in bytes. Stops counting above `most`. A delta of text, the usual part, is not walked. */
export function partsSize(parts: readonly Part[], most: number): number {
  let bytes = 2
  for (let at = 0; at < parts.length && bytes <= most; at++) {
    const part = parts[at] as Part
    bytes += isText(part) ? part.text.length + 12 : jsonSize(part, most - bytes)
  }
  return bytes
}

function isText(part: Part): part is Part & { readonly text: string } {
  if (typeof part?.text !== 'string') return false
  for (const key in part) if (key !== 'text' && key !== 'thought') return false
  return true
}

import type { InlineData as Media } from '../../../src/core/content/content.ts'

/** The largest file of a message. As base64 it fits into one request to the server. */
export const MOST_FILE_BYTES = 10_000_000

/** Reads a file of the user. Undefined if it is too large. */
export async function readFile(file: File): Promise<Media | undefined> {
  if (file.size > MOST_FILE_BYTES) return undefined
  const bytes = new Uint8Array(await file.arrayBuffer())
  return { mimeType: file.type || 'application/octet-stream', data: toBase64(bytes), displayName: file.name }
}

const STEP = 0x8000

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += STEP) text += String.fromCharCode(...bytes.subarray(at, at + STEP))
  return btoa(text)
}

// Names for media of messages and results that is stored as artifacts. A name is a hash, so equal media is stored once.
import type { InlineData } from '../../core/content/content.ts'

const MEDIA_NAME = /^media\/[0-9a-f]{32}\.[a-z0-9]{1,8}$/

/** Is it a name of `toMediaName`? A client can only know such a name from the media or from an event. */
export function isMediaName(filename: string): boolean {
  return MEDIA_NAME.test(filename)
}

/** The name of media: `media/<first 128 bits of SHA-256 of the base64 text>.<subtype>`. */
export async function toMediaName({ mimeType, data }: InlineData): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(data)), 0, 16)
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `media/${hex}.${extensionOf(String(mimeType))}`
}

/** A file extension for a media type: its subtype, or `bin`. */
export function extensionOf(mimeType: string): string {
  return /^[^/]+\/(?:x-)?([a-z0-9]{1,8})(?:[;+ ]|$)/i.exec(mimeType)?.[1]?.toLowerCase() ?? 'bin'
}

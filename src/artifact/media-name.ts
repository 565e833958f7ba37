// Media of messages and results that is kept as artifacts: named by what it holds, so equal bytes are stored once.
import type { Blob, Part } from '../content/content.ts'

const MEDIA_NAME = /^media\/[0-9a-f]{32}\.[a-z0-9]{1,8}$/

/** Is it a name that `mediaName` makes? A client that knows one has seen the bytes, or an event that holds the name. */
export function isMediaName(filename: string): boolean {
  return MEDIA_NAME.test(filename)
}

/** `media/<first 128 bits of SHA-256 of the base64 text>.<subtype>` */
export async function toMediaName({ mimeType, data }: Blob): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(data)), 0, 16)
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `media/${hex}.${extensionOf(String(mimeType))}`
}

function extensionOf(mimeType: string): string {
  return /^[^/]+\/(?:x-)?([a-z0-9]{1,8})(?:[;+ ]|$)/i.exec(mimeType)?.[1]?.toLowerCase() ?? 'bin'
}

/** How many bytes base64 text stands for. */
export function base64ByteLength(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.floor(((data.length - padding) * 3) / 4)
}

/** Marks media as the content of an artifact: it need not be stored again. The recorder compares the bytes. */
export function markArtifact(part: Part, filename: string): Part {
  return { ...part, partMetadata: { ...part.partMetadata, artifact: filename } }
}

/** The artifact that media is said to come from, and the media without that mark. */
export function takeArtifactMark(part: Part): { readonly part: Part; readonly filename: string | undefined } {
  const { partMetadata, ...rest } = part
  const { artifact, ...metadata } = partMetadata ?? {}
  if (typeof artifact !== 'string') return { part, filename: undefined }
  return {
    part: Object.keys(metadata).length ? { ...rest, partMetadata: metadata } : rest,
    filename: artifact,
  }
}

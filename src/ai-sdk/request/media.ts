// Media on its way to a model, in the shape its specification version has for it.
import type { Part } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Bag, FileData, FilePart, SupportedUrls } from '../ai-sdk-types.ts'
import type { ToolNames } from './tool-names.ts'

/** The model a prompt is written for. */
export interface Target {
  readonly version: 'v2' | 'v3' | 'v4'
  /** For error messages: `gpt-5 (openai.responses)`. */
  readonly label: string
  readonly supportedUrls: SupportedUrls
  readonly media: MediaPlace
  readonly names: ToolNames
}

/**
 * Where the media of a tool result stands: `inside` the result whatever it is; in the `result` if it is a picture,
 * else in a user message after it; always in a user `message`; there, but only `pictures`; or nowhere, with a `note`
 * in its place.
 */
export type MediaPlace = 'inside' | 'result' | 'message' | 'pictures' | 'note'

/** The place to try when a provider refuses media where it stands. */
export const NEXT_PLACE: Readonly<Record<MediaPlace, MediaPlace | undefined>> = {
  inside: 'message',
  result: 'message',
  message: 'pictures',
  pictures: 'note',
  note: undefined,
}

/** A part with media as a file of a message, with what its provider hung on it; undefined when it has none. */
export function toFile(part: Part, target: Target, options: Bag = {}): FilePart | undefined {
  const found = mediaOf(part, target)
  if (!found) return undefined
  const { data, mediaType, filename } = found
  const { videoMetadata } = part
  const providerOptions = videoMetadata ? { ...options, google: { ...options.google, videoMetadata } } : options
  return {
    type: part.thought && target.version === 'v4' ? 'reasoning-file' : 'file',
    data: target.version === 'v4' ? data : olderData(data, mediaType),
    mediaType,
    ...(filename !== undefined && { filename }),
    ...(Object.keys(providerOptions).length && { providerOptions }),
  }
}

/** Is there a place for the part in a tool result? Providers that take media there take pictures; other types differ. */
export function fitsResult(part: Part, { media, version }: Target): boolean {
  if (media === 'inside') return Boolean(part.inlineData ?? part.fileData)
  if (media !== 'result' || (part.fileData && version === 'v2')) return false
  return isPicture(part)
}

export function isPicture({ inlineData, fileData }: Part): boolean {
  return /^image\//i.test((inlineData ?? fileData)?.mimeType ?? '')
}

/** Media in words, for a model that may not be shown it: some providers drop files of types they do not know. */
export function mediaInWords({ inlineData, fileData }: Part): string | undefined {
  if (fileData) return `file (${fileData.mimeType ?? 'unknown type'}) at ${where(fileData.fileUri)}`
  if (!inlineData) return undefined
  const { mimeType, data, displayName } = inlineData
  const named = displayName === undefined ? '' : ` "${displayName}"`
  return `file${named} (${mimeType}, about ${Math.ceil((data.length * 3) / 4)} bytes)`
}

/** Does the model read the file of a part? Bytes always count as read. */
export function isReadable({ fileData }: Part, { supportedUrls }: Target): boolean {
  if (!fileData) return true
  const { fileUri, mimeType } = fileData
  return Boolean(mimeType) && URL.canParse(fileUri) && isSupported(fileUri, mimeType ?? '', supportedUrls)
}

/** A part with media as a piece of a tool's result; undefined when it has none. */
export function toResultFile(part: Part, target: Target): object | undefined {
  const found = mediaOf(part, target)
  if (!found) return undefined
  const { data, mediaType, filename } = found
  const named = filename === undefined ? {} : { filename }
  if (target.version === 'v4') return { type: 'file', data, mediaType, ...named }
  const isImage = mediaType.startsWith('image/')
  if (data.type === 'url') {
    if (target.version === 'v3') return { type: isImage ? 'image-url' : 'file-url', url: data.originalUrl }
    return { type: 'text', text: `File (${mediaType}): ${data.originalUrl}` }
  }
  if (target.version === 'v2') return { type: 'media', data: data.data, mediaType }
  return isImage
    ? { type: 'image-data', data: data.data, mediaType }
    : { type: 'file-data', data: data.data, mediaType, ...named }
}

interface Media {
  readonly data: Exclude<FileData, string | URL | Uint8Array>
  readonly mediaType: string
  readonly filename: string | undefined
}

function mediaOf({ inlineData, fileData }: Part, target: Target): Media | undefined {
  if (inlineData) {
    const { data, mimeType: mediaType, displayName: filename } = inlineData
    return { data: { type: 'data', data }, mediaType, filename }
  }
  if (!fileData) return undefined
  const { fileUri, mimeType, displayName: filename } = fileData
  if (!mimeType || !isReadable({ fileData }, target)) {
    const what = mimeType ? `of type ${mimeType}` : 'without a mimeType'
    throw new ToolwrightError(
      'INVALID_REQUEST',
      `${target.label} does not read files ${what} by their address (${where(fileUri)}). Send the bytes as inlineData.`,
    )
  }
  return { data: { type: 'url', url: new URL(fileUri), originalUrl: fileUri }, mediaType: mimeType, filename }
}

/** Documents as bytes: given as base64, a provider (Cohere) takes them for the text itself. */
function olderData(data: Media['data'], mediaType: string): string | URL | Uint8Array {
  if (data.type === 'url') return data.url
  if (/^(image|audio|video)\//i.test(mediaType)) return data.data
  try {
    return Uint8Array.from(atob(data.data), (one) => one.charCodeAt(0))
  } catch {
    return data.data
  }
}

function isSupported(uri: string, mimeType: string, supported: SupportedUrls): boolean {
  const type = mimeType.toLowerCase()
  return Object.entries(supported).some(([pattern, urls]) => {
    const prefix = pattern.toLowerCase().replace(/\*\/\*$|\*$/, '')
    const fits = prefix === pattern.toLowerCase() ? type === prefix : type.startsWith(prefix)
    return fits && urls.some((url) => url.test(uri.toLowerCase()))
  })
}

/** An address without what may be secret in it. */
function where(uri: string): string {
  return uri
    .replace(/[?#].*$/s, '')
    .replace(/\/\/[^/@]*@/, '//')
    .slice(0, 200)
}

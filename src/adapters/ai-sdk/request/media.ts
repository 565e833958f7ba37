// Writes media for a prompt, in the format of the model's specification version.
import type { Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { FileData, FilePart, ProviderOptions, SupportedUrls } from '../ai-sdk-types.ts'
import type { SpecificationVersion } from '../specification-version.ts'
import type { ToolNames } from './tool-names.ts'

/** The model a prompt is written for, and how to write it. */
export interface PromptTarget {
  /** Specification version of the model. */
  readonly version: SpecificationVersion
  /** Name of the model in error messages: `gpt-5 (openai.responses)`. */
  readonly label: string
  /** URLs the model can read itself. */
  readonly supportedUrls: SupportedUrls
  /** Where the media of tool results is sent. */
  readonly media: MediaPlacement
  /** Tool names as the provider accepts them. */
  readonly names: ToolNames
}

/**
 * Where the media of a tool result is sent:
 * - `all-in-result`: in the result
 * - `images-in-result`: images in the result, other media in a user message after it
 * - `user-message`: all media in a user message after the result
 * - `images-in-user-message`: only images, in a user message after the result
 * - `text-note`: not at all; a text describes it
 */
export type MediaPlacement =
  | 'all-in-result'
  | 'images-in-result'
  | 'user-message'
  | 'images-in-user-message'
  | 'text-note'

/** The placement to try next when a provider rejects one. */
export const NEXT_PLACEMENT: Readonly<Record<MediaPlacement, MediaPlacement | undefined>> = {
  'all-in-result': 'user-message',
  'images-in-result': 'user-message',
  'user-message': 'images-in-user-message',
  'images-in-user-message': 'text-note',
  'text-note': undefined,
}

/** The file part for a part with media, or undefined when the part has none. `options` are its provider options. */
export function toFilePart(part: Part, target: PromptTarget, options: ProviderOptions = {}): FilePart | undefined {
  const found = readMedia(part, target)
  if (!found) return undefined
  const { data, mediaType, filename } = found
  const { videoMetadata } = part
  const providerOptions = videoMetadata ? { ...options, google: { ...options.google, videoMetadata } } : options
  return {
    type: part.thought && target.version === 'v4' ? 'reasoning-file' : 'file',
    data: target.version === 'v4' ? data : toOlderFileData(data, mediaType),
    mediaType,
    ...(filename !== undefined && { filename }),
    ...(Object.keys(providerOptions).length && { providerOptions }),
  }
}

/** Whether the media of a part is sent in the tool result. Providers with media in results all accept images. */
export function fitsToolResult(part: Part, { media, version }: PromptTarget): boolean {
  if (media === 'all-in-result') return Boolean(part.inlineData ?? part.fileData)
  if (media !== 'images-in-result' || (part.fileData && version === 'v2')) return false
  return isImage(part)
}

/** Whether a part is an image. */
export function isImage({ inlineData, fileData }: Part): boolean {
  return /^image\//i.test((inlineData ?? fileData)?.mimeType ?? '')
}

/** Describes media as text, for models that cannot read it. Some providers silently drop unknown types. */
export function describeMedia({ inlineData, fileData }: Part): string | undefined {
  if (fileData) return `file (${fileData.mimeType ?? 'unknown type'}) at ${withoutUrlSecrets(fileData.fileUri)}`
  if (!inlineData) return undefined
  const { mimeType, data, displayName } = inlineData
  const named = displayName === undefined ? '' : ` "${displayName}"`
  return `file${named} (${mimeType}, about ${Math.ceil((data.length * 3) / 4)} bytes)`
}

/** Whether the model can read the file of a part. Inline bytes always count as readable. */
export function canReadFile({ fileData }: Part, { supportedUrls }: PromptTarget): boolean {
  if (!fileData) return true
  const { fileUri, mimeType } = fileData
  return Boolean(mimeType) && URL.canParse(fileUri) && isSupportedUrl(fileUri, mimeType ?? '', supportedUrls)
}

/** The content of a tool result for a part with media, or undefined when the part has none. */
export function toResultContent(part: Part, target: PromptTarget): object | undefined {
  const found = readMedia(part, target)
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

function readMedia({ inlineData, fileData }: Part, target: PromptTarget): Media | undefined {
  if (inlineData) {
    const { data, mimeType: mediaType, displayName: filename } = inlineData
    return { data: { type: 'data', data }, mediaType, filename }
  }
  if (!fileData) return undefined
  const { fileUri, mimeType, displayName: filename } = fileData
  if (!mimeType || !canReadFile({ fileData }, target)) {
    const what = mimeType ? `of type ${mimeType}` : 'without a mimeType'
    throw new ToolwrightError(
      'INVALID_REQUEST',
      `${target.label} cannot read files ${what} from a URL (${withoutUrlSecrets(fileUri)}). Send the bytes as inlineData.`,
    )
  }
  return { data: { type: 'url', url: new URL(fileUri), originalUrl: fileUri }, mediaType: mimeType, filename }
}

/** File data of versions 2 and 3. Documents are bytes: the Cohere provider reads base64 as the text itself. */
function toOlderFileData(data: Media['data'], mediaType: string): string | URL | Uint8Array {
  if (data.type === 'url') return data.url
  if (/^(image|audio|video)\//i.test(mediaType)) return data.data
  try {
    return Uint8Array.from(atob(data.data), (one) => one.charCodeAt(0))
  } catch {
    return data.data
  }
}

function isSupportedUrl(uri: string, mimeType: string, supported: SupportedUrls): boolean {
  const type = mimeType.toLowerCase()
  return Object.entries(supported).some(([pattern, urls]) => {
    const prefix = pattern.toLowerCase().replace(/\*\/\*$|\*$/, '')
    const fits = prefix === pattern.toLowerCase() ? type === prefix : type.startsWith(prefix)
    return fits && urls.some((url) => url.test(uri.toLowerCase()))
  })
}

/** A URL without its credentials, query and fragment. */
function withoutUrlSecrets(uri: string): string {
  return uri
    .replace(/[?#].*$/s, '')
    .replace(/\/\/[^/@]*@/, '//')
    .slice(0, 200)
}

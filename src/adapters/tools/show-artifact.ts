import { base64ByteLength } from '../../core/base/base64.ts'
import type { FileData, InlineData, Part } from '../../core/content/content.ts'
import { truncate } from './shorten-text.ts'

/** An artifact as the model sees it. */
export interface ShownArtifact {
  /** The artifact in the result: its text, or a description of the file. */
  readonly shown: {
    readonly text?: string
    /** The text was shortened. */
    readonly truncated?: true
    readonly mimeType?: string
    readonly bytes?: number
    /** Number of its media part, from 1. */
    readonly attachment?: number
    /** Why its content is missing. */
    readonly note?: string
  }
  /** The media part of the artifact. */
  readonly media?: Part
}

/** Converts an artifact: text to text, media to a media part. Undefined when the artifact is neither. */
export function showArtifact(part: Part, limits: { maxTextLength: number }): ShownArtifact | undefined {
  if (part.inlineData) return showBlob(part, part.inlineData, limits.maxTextLength)
  if (part.fileData) return showFile(part, part.fileData)
  if (part.text !== undefined) return { shown: showText(part.text, limits.maxTextLength) }
  return undefined
}

// a model would reject an unknown type in this request and in every later request of the session
const note = 'files of this type cannot be shown'

function showBlob(part: Part, { mimeType, data }: InlineData, maxTextLength: number): ShownArtifact {
  const bytes = base64ByteLength(data)
  if (isMedia(mimeType)) return { shown: { mimeType, bytes }, media: part }
  const text = isText(mimeType) ? decode(data, maxTextLength) : undefined
  return { shown: text === undefined ? { mimeType, bytes, note } : { mimeType, ...showText(text, maxTextLength) } }
}

function showFile(part: Part, { mimeType }: FileData): ShownArtifact {
  if (mimeType === undefined) return { shown: {}, media: part }
  return isMedia(mimeType) || isText(mimeType) ? { shown: { mimeType }, media: part } : { shown: { mimeType, note } }
}

function showText(text: string, maxLength: number): { text: string; truncated?: true } {
  return text.length <= maxLength ? { text } : { text: truncate(text, maxLength), truncated: true }
}

/** Whether models can see or hear a type. SVG is text for models. */
function isMedia(mimeType: string): boolean {
  return /^(?:(?:image|audio|video)\/(?!svg)|application\/pdf\b)/i.test(mimeType)
}

function isText(mimeType: string): boolean {
  return /^(?:text\/|application\/(?:json|xml|csv|yaml|x-yaml|javascript|sql)\b|[^;]*\+(?:json|xml|yaml)\b)/i.test(
    mimeType,
  )
}

/** Decodes the beginning of base64 as UTF-8, a little more than is shown. Undefined when it is not base64. */
function decode(data: string, maxLength: number): string | undefined {
  const enough = (maxLength + 1) * 4 // four bytes are at least one character; four characters of base64 are three bytes
  try {
    const binary = atob(
      data
        .slice(0, Math.ceil(enough / 3) * 4)
        .replaceAll('-', '+')
        .replaceAll('_', '/'),
    )
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
  } catch {
    return undefined
  }
}

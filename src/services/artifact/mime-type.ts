import type { Part } from '../../core/content/content.ts'

/** The media type of a part; undefined if the part has none. */
export function mimeTypeOf(part: Part): string | undefined {
  return part.inlineData?.mimeType ?? part.fileData?.mimeType ?? (part.text === undefined ? undefined : 'text/plain')
}

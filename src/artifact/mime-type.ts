import type { Part } from '../content/content.ts'

/** What kind of file a part is, when it says so. */
export function mimeTypeOf(part: Part): string | undefined {
  return part.inlineData?.mimeType ?? part.fileData?.mimeType ?? (part.text === undefined ? undefined : 'text/plain')
}

/** Parts with more bytes are encoded and written when it is the turn of their user, because that blocks the event loop. */
export const LARGE_BYTES = 500_000

/** The characters of text and inline data in a list of parts, which may have any shape. */
export function sizeOfParts(parts: unknown): number {
  if (!Array.isArray(parts)) return 0
  let size = 0
  for (const part of parts) size += (part?.text?.length ?? 0) + (part?.inlineData?.data?.length ?? 0)
  return size
}

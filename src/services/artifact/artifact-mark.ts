// Media that a tool loaded from an artifact carries a mark, so that it is not stored again.
import type { Part } from '../../core/content/content.ts'

/** Marks media as the content of an artifact. The recorder compares the bytes before it trusts the mark. */
export function markArtifact(part: Part, filename: string): Part {
  return { ...part, partMetadata: { ...part.partMetadata, artifact: filename } }
}

/** The artifact that media is marked with, and the media without the mark. */
export function takeArtifactMark(part: Part): { readonly part: Part; readonly filename: string | undefined } {
  const { partMetadata, ...rest } = part
  const { artifact, ...metadata } = partMetadata ?? {}
  if (typeof artifact !== 'string') return { part, filename: undefined }
  return {
    part: Object.keys(metadata).length ? { ...rest, partMetadata: metadata } : rest,
    filename: artifact,
  }
}

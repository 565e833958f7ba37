import type { Blob as Media } from '../../../src/content/content.ts'

/** A message that was not sent yet. */
export interface Draft {
  /** The text. */
  readonly text: string
  /** The files. */
  readonly files: readonly Media[]
}

const drafts = new Map<string, Draft>()

/** The draft of a message field, by the name of the field. It stays while another tab or session is shown. */
export function draftOf(name: string): Draft {
  return drafts.get(name) ?? { text: '', files: [] }
}

/** Keeps a draft. An empty one is forgotten. */
export function keepDraft(name: string, draft: Draft): void {
  if (draft.text === '' && draft.files.length === 0) drafts.delete(name)
  else drafts.set(name, draft)
}

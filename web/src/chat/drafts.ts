import type { InlineData as Media } from '../../../src/content/content.ts'
import type { SessionKey } from '../api/types.ts'

/** A message that was not sent yet. */
export interface Draft {
  /** The text. */
  readonly text: string
  /** The files. */
  readonly files: readonly Media[]
}

const drafts = new Map<string, Draft>()

/** Fields whose drafts belong to another field now. */
const moved = new Map<string, string>()

/** The draft of a message field, by the name of the field. It stays while another tab or session is shown. */
export function draftOf(name: string): Draft {
  return drafts.get(name) ?? { text: '', files: [] }
}

/** Keeps a draft. An empty one is forgotten. */
export function keepDraft(field: string, draft: Draft): void {
  const name = moved.get(field) ?? field
  if (draft.text === '' && draft.files.length === 0) drafts.delete(name)
  else drafts.set(name, draft)
}

/**
 * Gives the draft of one field to another, such as that of a new session once the session exists. What is typed into the first field
 * until it is gone belongs to the other one, too.
 */
export function moveDraft(from: string, to: string): void {
  keepDraft(to, draftOf(from))
  drafts.delete(from)
  moved.set(from, to)
}

/** The field is shown again: its drafts are its own. */
export function ownDraft(name: string): void {
  moved.delete(name)
}

/** The name of the message field of a session. */
export function fieldOf(key: SessionKey): string {
  return JSON.stringify(key)
}

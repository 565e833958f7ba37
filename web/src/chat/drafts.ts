import type { InlineData as Media } from '../../../src/core/content/content.ts'
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
  if (focused === from) focusNext = to
}

/** The field that has the focus. */
let focused: string | undefined
/** The field that gets the focus when it is shown: its user is typing into the field that it replaces. */
let focusNext: string | undefined

/** A field has got the focus, or lost it. */
export function noteFocus(name: string, hasFocus: boolean): void {
  if (hasFocus) focused = name
  else if (focused === name) focused = undefined
}

/** Does the field take the focus of the one that it replaces? */
export function takesFocus(name: string): boolean {
  const isNext = focusNext === name
  if (isNext) focusNext = undefined
  return isNext
}

/** The field is shown again: its drafts are its own. */
export function ownDraft(name: string): void {
  moved.delete(name)
}

/** The name of the message field of a session. */
export function fieldOf(key: SessionKey): string {
  return JSON.stringify(key)
}

/** What kind of thing a text can mention. */
export type MentionKind =
  | 'quoted'
  | 'url'
  | 'email'
  | 'path'
  | 'id'
  | 'phone'
  | 'tag'
  | 'datetime'
  | 'date'
  | 'time'
  | 'expression'
  | 'number'
  | 'currency'
  | 'language'
  | 'name'
  | 'phrase'

/** Something in a text that could be an argument. */
export interface Mention {
  readonly kind: MentionKind
  readonly value: string | number
  readonly start: number
  readonly end: number
  /** Of a number: the stem of what is counted or measured. */
  readonly unit?: string | undefined
  /** Of a number: it is written as a word. */
  readonly isWord?: boolean | undefined
}

/** Finds mentions of one kind; `today` is midnight (UTC) of the day it is. */
export type Finder = (text: string, today: number) => Mention[]

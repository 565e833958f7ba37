/** What a store holds, as it is counted. */
export type Kind =
  | 'sessions'
  | 'entries'
  | 'state values'
  | 'inbox items'
  | 'pending requests'
  | 'artifact versions'
  | 'credentials'
  | 'pins'
  | 'memories'
  | 'schedules'

/** Something that is not copied. */
export interface Skipped {
  /** Tells facts apart. */
  readonly type: 'skipped'
  /** What it is. */
  readonly what: string
  /** Why, and what to do. */
  readonly why: string
}

/** What happens while a store is copied. */
export type CopyFact =
  /** Rows, or a whole session, are in the target now, or were there already. */
  | { readonly type: 'copied'; readonly kind: Kind; readonly count: number }
  /** Another process copies this session, or died while it did. */
  | { readonly type: 'waiting'; readonly what: string }
  | Skipped

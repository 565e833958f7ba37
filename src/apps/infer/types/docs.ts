/** A tag of a doc comment, such as `@minimum 1`. */
export interface DocTag {
  /** The name without `@`. */
  readonly name: string
  /** What follows the name. */
  readonly text: string
}

/** What a doc comment says about a value. */
export interface Docs {
  /** The text before the tags. */
  readonly description?: string | undefined
  /** The tags, in order. */
  readonly tags: readonly DocTag[]
}

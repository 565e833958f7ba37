/** Where a schema is in its fragment. */
export interface Position {
  /** For notes, such as `/properties/name`. */
  readonly path: string
  /** How many schemas contain it. */
  readonly level: number
  /** How many schemas lead to it that apply to the same value as the root; undefined if it applies to another value. */
  readonly chain: number | undefined
  /** Hidden properties of the schema around it, which it must not require. */
  readonly hidden: ReadonlySet<string>
  /** Is it a part of the root through "allOf"? */
  readonly isPart: boolean
}

/** No hidden properties. */
export const NONE: ReadonlySet<string> = new Set()

/** The position of the root of a fragment. */
export const ROOT: Position = { path: '', level: 0, chain: 0, hidden: NONE, isPart: false }

/** The position of a schema for a part of the value. */
export function below(at: Position, keyword: string): Position {
  return { path: `${at.path}/${keyword}`, level: at.level + 1, chain: undefined, hidden: NONE, isPart: false }
}

/** The position of a schema for the same value. */
export function deeper(at: Position): Position {
  return { ...at, level: at.level + 1, chain: at.chain === undefined ? undefined : at.chain + 1 }
}

/** Who waits for a slot. */
export interface Waiting {
  /** The user. */
  readonly userId: string
  /** Who waits, among those of the user. */
  readonly ticket: string
  /** The lower, the longer it has waited. */
  readonly order: number
}

/** The slots of a limit, and who waits for them. */
export interface Line {
  /** How many slots the limit has. */
  readonly max: number
  /** The slots that are taken, by user. */
  readonly taken: ReadonlyMap<string, number>
  /** Who waits, in any order. */
  readonly waiting: readonly Waiting[]
}

/** Who gets the free slots: users with the fewest slots come first, then who has waited longest. */
export function nextInLine({ max, taken, waiting }: Line): readonly Waiting[] {
  const slots = new Map(taken)
  let free = max
  for (const count of taken.values()) free -= count
  if (free <= 0) return []
  if (waiting.length <= free) return waiting
  const left = new Set(waiting)
  const next: Waiting[] = []
  while (next.length < free) {
    const first = firstOf(left, slots)
    left.delete(first)
    next.push(first)
    slots.set(first.userId, (slots.get(first.userId) ?? 0) + 1)
  }
  return next
}

function firstOf(waiting: Iterable<Waiting>, slots: ReadonlyMap<string, number>): Waiting {
  let first: Waiting | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const one of waiting) {
    const count = slots.get(one.userId) ?? 0
    if (first && (count > fewest || (count === fewest && one.order > first.order))) continue
    first = one
    fewest = count
  }
  return first as Waiting // more wait than slots are free
}

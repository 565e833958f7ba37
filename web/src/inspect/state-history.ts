import type { Entry } from '../../../src/core/event/event.ts'

/** One change of a state key. */
export interface StateChange {
  /** The event that changed it. */
  readonly eventId: string
  /** Who changed it. */
  readonly author: string
  /** Seconds since the epoch. */
  readonly at: number
  /** The value before. Undefined: unknown, or none. */
  readonly before: unknown
  /** The value after. Null: the key was deleted. */
  readonly after: unknown
}

/** The changes of each state key, the oldest first. */
export function stateHistory(entries: readonly Entry[]): ReadonlyMap<string, readonly StateChange[]> {
  const history = new Map<string, StateChange[]>()
  for (const { event } of entries) {
    if (!event?.actions.stateDelta) continue
    for (const [key, after] of Object.entries(event.actions.stateDelta)) {
      const changes = history.get(key) ?? []
      const before = changes.at(-1)?.after
      changes.push({ eventId: event.id, author: event.author, at: event.timestamp, before, after })
      history.set(key, changes)
    }
  }
  return history
}

/** A key of the state. */
export interface StateItem {
  /** The key, with its prefix. */
  readonly key: string
  /** The current value. Undefined: the key is deleted. */
  readonly value: unknown
  /** Its changes in this session, the oldest first. */
  readonly changes: readonly StateChange[]
}

/** The keys of the state and those that were deleted, by name. */
export function stateItems(
  state: { readonly [key: string]: unknown },
  history: ReadonlyMap<string, readonly StateChange[]>,
): readonly StateItem[] {
  const values = new Map(Object.entries(state))
  return [...new Set([...values.keys(), ...history.keys()])]
    .sort()
    .map((key) => ({ key, value: values.get(key), changes: history.get(key) ?? [] }))
}

/** Whom a key belongs to, by its prefix. */
export function scopeOf(key: string): 'app' | 'user' | 'session' {
  if (key.startsWith('app:')) return 'app'
  return key.startsWith('user:') ? 'user' : 'session'
}

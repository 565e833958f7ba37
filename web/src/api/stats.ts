import type { CallStats, StatsGroup } from '../../../src/core/event/views/log-stats.ts'
import { pathOf, requestJson } from './request.ts'

/** How the tools of a user were used. */
export interface StatsResponse {
  /** The figures, the group with the most calls first. */
  readonly figures: readonly CallStats[]
  /** How many sessions they are from. */
  readonly sessions: number
  /** Whether the user has more sessions than were read. */
  readonly hasMore: boolean
}

/** Which figures to read. */
export interface StatsQuery {
  /** The app. */
  readonly app: string
  /** The user whose sessions are read. */
  readonly userId: string
  /** What the figures are grouped by. */
  readonly by: StatsGroup
  /** Only what has happened since, in seconds since the epoch. Undefined: everything. */
  readonly since: number | undefined
}

/** Reads how the tools of a user's sessions were used. */
export function getStats({ app, userId, by, since }: StatsQuery, signal: AbortSignal): Promise<StatsResponse> {
  const query = new URLSearchParams({ by, ...(since !== undefined && { since: String(since) }) })
  return requestJson(`/dev${pathOf('apps', app, 'users', userId, 'stats')}?${query}`, { signal })
}

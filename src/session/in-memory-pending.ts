import { copyJson } from '../base/json.ts'
import type { PendingRequest } from '../event/pending.ts'

/** What a session waits for, and since when: a request without a time is as old as its record. */
export interface Waiting {
  readonly request: PendingRequest
  /** Seconds since the epoch. */
  readonly since: number
}

/** The requests as they may be kept; nothing when there are none. */
export function toWaiting(requests: readonly PendingRequest[], now: number): readonly Waiting[] | undefined {
  if (requests.length === 0) return undefined
  return requests.map((request) => ({ request: copyJson(request), since: request.createdAt ?? now / 1000 }))
}

/** Copies for whoever asked, oldest first. */
export function oldestFirst(waiting: readonly Waiting[]): PendingRequest[] {
  return waiting.toSorted((a, b) => a.since - b.since).map(({ request }) => copyJson(request))
}

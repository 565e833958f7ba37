import { copyJson } from '../base/json.ts'
import type { PendingRequest } from '../event/pending.ts'
import { checkPendingRequest } from './storable-entry.ts'

/** A pending request and its place among all that the service was ever given. */
export interface Waiting {
  readonly request: PendingRequest
  readonly place: number
}

/** Copies to store; undefined when there are none. A request that `known` has keeps its place. */
export function toWaiting(
  requests: readonly PendingRequest[],
  known: readonly Waiting[] | undefined,
  nextPlace: () => number,
): readonly Waiting[] | undefined {
  if (requests.length === 0) return undefined
  const places = new Map(known?.map(({ request, place }) => [request.id, place]))
  return requests.map((request) => ({
    request: copyJson(checkPendingRequest(request)),
    place: places.get(request.id) ?? nextPlace(),
  }))
}

/** Copies of the requests, in the order in which they were first recorded: clocks may be set, places are not. */
export function oldestFirst(waiting: readonly Waiting[]): PendingRequest[] {
  return waiting.toSorted((a, b) => a.place - b.place).map(({ request }) => copyJson(request))
}

import { copyJson } from '../base/json.ts'
import type { PendingRequest } from '../event/pending.ts'
import { checkPendingRequest } from './storable-entry.ts'

/** A pending request with its position among all requests that the service has stored. */
export interface StoredRequest {
  /** The request. */
  readonly request: PendingRequest
  /** Grows with each new request. */
  readonly order: number
}

/** Copies of the requests to store; undefined if there are none. A request in `known` keeps its position. */
export function toStoredRequests(
  requests: readonly PendingRequest[],
  known: readonly StoredRequest[] | undefined,
  nextOrder: () => number,
): readonly StoredRequest[] | undefined {
  if (requests.length === 0) return undefined
  const orders = new Map(known?.map(({ request, order }) => [request.id, order]))
  return requests.map((request) => ({
    request: copyJson(checkPendingRequest(request)),
    order: orders.get(request.id) ?? nextOrder(),
  }))
}

/** Copies of the requests, in the order of their first append. Timestamps are not used, because clocks can be set. */
export function inOrder(stored: readonly StoredRequest[]): PendingRequest[] {
  return stored.toSorted((a, b) => a.order - b.order).map(({ request }) => copyJson(request))
}

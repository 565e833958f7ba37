import type { PendingRequest } from '../../../src/core/event/pending-request.ts'

/** A pending request and its app. */
export interface AppRequest {
  /** The app of the session. */
  readonly app: string
  /** The request. */
  readonly request: PendingRequest
}

/** Identifies a request among those of all apps. */
export function keyOf({ app, request }: AppRequest): string {
  return `${app} ${request.sessionId} ${request.id}`
}

/** Known requests stay where they are, so that no button moves under the pointer. New ones follow, the oldest first. */
export function inKnownOrder(all: readonly AppRequest[], known: readonly AppRequest[]): readonly AppRequest[] {
  const places = new Map(known.map((one, at) => [keyOf(one), at]))
  const placeOf = (one: AppRequest): number => places.get(keyOf(one)) ?? known.length
  const ageOf = ({ request }: AppRequest): number => request.createdAt ?? Number.POSITIVE_INFINITY
  return all.toSorted((one, other) => placeOf(one) - placeOf(other) || compare(ageOf(one), ageOf(other)))
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}

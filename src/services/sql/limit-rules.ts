// The rules of limits: who may take a slot, and whom the store notifies of a free one. All lock the row of the limit first.
import { nextInLine, type Waiting } from '../limit/next-in-line.ts'
import type { FreedSlot, LimitKey, SlotAnswer, SlotRequest } from '../limit/service.ts'
import type { LimitRows, LockedLimit } from './limit-rows.ts'
import type { SqlWork } from './sql.ts'

/** The order of who has no place in line: behind all others. */
const LAST = Number.POSITIVE_INFINITY

/** Takes a slot, or a place in line. */
export function* takeSlot(rows: LimitRows, request: SlotRequest): SqlWork<SlotAnswer> {
  const { userId, place, slotId } = request
  const limit = yield* rows.lockOrCreate(request)
  yield* rows.deleteEnded(limit)
  if (yield* rows.isTaken(slotId)) return { type: 'taken' } // an earlier attempt, whose commit was not noticed
  const taken = yield* rows.taken(limit)
  const places = yield* rows.places(limit)
  const isOwn = (one: Waiting): boolean => one.userId === userId && one.ticket === place?.ticket
  const others = places.filter((one) => !isOwn(one))
  const own = places.find(isOwn) ?? { userId, ticket: place?.ticket ?? '', order: LAST }
  const next = nextInLine({ max: limit.max, taken: taken.byUser, waiting: [...others, own] })
  if (next.includes(own)) {
    if (own.order !== LAST) yield* rows.deletePlace(limit, own)
    yield* rows.insertSlot(limit, request)
    return { type: 'taken' }
  }
  if (place) yield* rows.keepPlace(limit, request, place)
  let retryAfterMs = taken.firstEndMs ?? LAST
  for (const { endMs } of others) retryAfterMs = Math.min(retryAfterMs, endMs)
  return { type: 'full', retryAfterMs: Math.max(1, retryAfterMs) }
}

/** Changes a limit that exists. Returns those who can take a slot now. */
export function* changeLimit(
  rows: LimitRows,
  key: LimitKey,
  change: (limit: LockedLimit) => SqlWork<void>,
): SqlWork<FreedSlot[]> {
  const limit = yield* rows.lock(key)
  if (!limit) return []
  yield* change(limit)
  const waiting = yield* rows.places(limit)
  if (waiting.length === 0) {
    yield* rows.deleteIfEmpty(limit)
    return []
  }
  const { byUser: taken } = yield* rows.taken(limit)
  const next = nextInLine({ max: limit.max, taken, waiting })
  return next.map(({ ticket }) => ({ appName: key.appName, ticket }))
}

import { setTimeout as delay } from 'node:timers/promises'

/** The work of one principal takes at most a third of the time: a pause of twice its length follows it. */
const PAUSE_FACTOR = 2
/** The longest pause. A store that is slow by itself leaves room for others, too. */
const MAX_PAUSE_MS = 200

/** How long the server rests after a piece of work that started then, in milliseconds. */
export function pauseAfter(start: number): number {
  return Math.min((performance.now() - start) * PAUSE_FACTOR, MAX_PAUSE_MS)
}

/** Rests after a piece of work, so that requests of other principals are served. */
export async function restAfter(start: number): Promise<void> {
  await delay(pauseAfter(start))
}

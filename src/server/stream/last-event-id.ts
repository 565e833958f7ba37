import type { RequestContext } from '../env.ts'

/** The event after which a request follows a run; undefined if it has none. */
export function lastEventId(req: RequestContext['req']): string | undefined {
  return req.header('last-event-id') || undefined
}

// Shared by scenarios of runs that must end: a run without an end fails instead of hanging.
import { type Event, type Run, type SessionService, ToolwrightError } from 'toolwright'

/** Limits the appends of a store: a run that does not end fails at the first append over the limit. */
export function limitAppends(store: SessionService, most = 60): SessionService {
  const append = store.append.bind(store)
  let appends = 0
  store.append = async (...args) => {
    if (++appends > most) throw new ToolwrightError('STORAGE', `More than ${most} appends: this does not end.`)
    return await append(...args)
  }
  return store
}

/** Reads a run to its end. */
export async function readEvents(run: Run): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of run) events.push(event)
  return events
}

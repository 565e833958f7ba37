// What stories of things that must end share: what would go on for ever fails instead of hanging.
import { type Event, type Run, type SessionService, ToolwrightError } from 'toolwright'

/** The store, refusing to grow for ever: a run that does not end fails at this append. */
export function bounded(store: SessionService, most = 60): SessionService {
  const append = store.append.bind(store)
  let appends = 0
  store.append = async (...args) => {
    if (++appends > most) throw new ToolwrightError('STORAGE', `More than ${most} appends: this does not end.`)
    return await append(...args)
  }
  return store
}

/** Follows a run to its end. */
export async function read(run: Run): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of run) events.push(event)
  return events
}

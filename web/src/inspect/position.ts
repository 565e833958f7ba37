import type { Event } from '../../../src/event/event.ts'
import { REQUEST_PREFIX } from '../../../src/event/request-names.ts'
import type { LogView } from '../session/log-view.ts'

/** Where in the agent tree a run is. */
export interface Position {
  /** The agent of the latest event. */
  readonly agent: string
  /** The agents on the way to it, the root first. */
  readonly path: readonly string[]
  /** The tools that are running or waiting. */
  readonly tools: ReadonlySet<string>
}

/** Events of one invocation that are looked at, so that a long log costs nothing. */
const MOST_EVENTS = 500

/** The position of the latest event of an agent. Undefined if there is none. */
export function positionOf({ entries, recent, streaming }: LogView): Position | undefined {
  const stored: Event[] = []
  for (let at = entries.length - 1; at >= 0 && stored.length < MOST_EVENTS; at--) {
    const event = entries[at]?.event
    if (event) stored.unshift(event)
  }
  const events = [...stored, ...recent, ...streaming]
  const latest = events.findLast(({ author }) => author !== 'user')
  if (!latest) return undefined
  const path = (latest.nodeInfo?.path ?? latest.author).split('/').map((name) => name.replace(/@.*$/, ''))
  return { agent: latest.author, path, tools: openTools(events, latest.invocationId) }
}

/** The names of the calls without a final response. */
function openTools(events: readonly Event[], invocationId: string): ReadonlySet<string> {
  const open = new Map<string, string>()
  for (const { content, invocationId: of, partial } of events) {
    if (of !== invocationId || partial) continue
    for (const { functionCall: call, functionResponse: response } of content?.parts ?? []) {
      if (call?.id !== undefined && !call.name.startsWith(REQUEST_PREFIX)) open.set(call.id, call.name)
      if (response?.id !== undefined && !response.willContinue) open.delete(response.id)
    }
  }
  return new Set(open.values())
}

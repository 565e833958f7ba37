import type { Entry, Event } from '../../../src/core/event/event.ts'
import { agentAt } from '../../../src/core/event/scope.ts'
import { readLog } from '../../../src/core/event/views/log-reader.ts'
import type { LogView } from '../session/log-view.ts'

/** Where in the agent tree a run is. */
export interface Position {
  /** The agent of the latest event. */
  readonly agent: string
  /** The agents on the way to it, the root first. */
  readonly path: readonly string[]
  /** The tools that are running or waiting. */
  readonly tools: ReadonlySet<string>
  /** From which agent to which the conversation went in this invocation, each pair once. */
  readonly transfers: readonly (readonly [from: string, to: string])[]
}

/** Entries that are looked at, so that a long log costs nothing. */
const MOST_ENTRIES = 500
const MOST_TRANSFERS = 20

/** The position of the latest event of an agent. Undefined if there is none. */
export function positionOf({ entries, recent, streaming }: LogView): Position | undefined {
  const stored: readonly (Entry | { readonly event: Event })[] = entries.slice(-MOST_ENTRIES)
  const all = [...stored, ...[...recent, ...streaming].map((event) => ({ event }))]
  const latest = all.findLast(({ event }) => event && event.author !== 'user')?.event
  if (!latest) return undefined
  const path = (latest.nodeInfo?.path ?? latest.author).split('/').map(agentAt)
  const calls = readLog(all).invocation(latest.invocationId)?.calls ?? []
  const open = calls.filter(({ kind, status }) => kind !== 'toolset' && (status === 'running' || status === 'waiting'))
  const events = all.flatMap(({ event }) => (event?.invocationId === latest.invocationId ? [event] : []))
  return { agent: latest.author, path, tools: new Set(open.map(({ name }) => name)), transfers: transfersOf(events) }
}

function transfersOf(events: readonly Event[]): Position['transfers'] {
  const pairs = events.flatMap(({ author, actions }) => {
    const to = actions.transferToAgent
    return to === undefined ? [] : [[JSON.stringify([author, to]), [author, to]] as const]
  })
  return [...new Map(pairs).values()].slice(-MOST_TRANSFERS)
}

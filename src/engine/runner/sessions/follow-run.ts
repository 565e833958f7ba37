// Follows the run of a session for a caller that did not start it, or lost its connection.

import type { SessionKey } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { RunFollower } from '../inbox/run-follower.ts'
import type { ActiveRuns } from '../run/run-factory.ts'
import type { StartedRun } from '../run/run-handle.ts'
import type { RunServices } from '../run-services.ts'
import type { WholeLog } from '../session/whole-log.ts'
import { forConsumer, positionAfter, positionOfPartial } from './followed-events.ts'
import { StoredRun } from './stored-run.ts'

interface Following {
  readonly running: ActiveRuns
  readonly services: RunServices
  readonly tree: AgentTree
}

/**
 * The stored events after an event, then those of the run under way. A run of another process is followed through the store,
 * without its partial events. Throws INVALID_REQUEST if the session has no event with this id.
 */
export async function followRun(
  key: SessionKey,
  afterEventId: string | undefined,
  { running, services, tree }: Following,
): Promise<StartedRun> {
  const findHolder = (): RunFollower | undefined => {
    const holder = running.of(key).at(-1)
    if (!holder) return undefined
    const { events, eventsBefore } = holder.data.view
    const ids = events.map(({ id }) => id)
    const position = positionAfter(ids, afterEventId, eventsBefore)
    return new RunFollower(holder, forConsumer(events.slice(position)))
  }
  const holder = running.of(key).at(-1)
  if (holder && afterEventId !== undefined) await loadEvent(holder.data.held, afterEventId)
  const local = findHolder()
  if (local) return local
  const stored = await StoredRun.open(key, afterEventId, { services, tree })
  const started = findHolder() // while the log was read
  if (started) return started
  stored.follow()
  return stored
}

/** Reads the whole log, if the holder does not have the event in memory. */
async function loadEvent(log: WholeLog, eventId: string): Promise<void> {
  const { events, eventsBefore } = log.view
  if (events.some(({ id }) => id === eventId) || positionOfPartial(eventId, eventsBefore) !== undefined) return
  await log.load(1)
}

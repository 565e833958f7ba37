import type { Entry, Event } from '../../../core/event/event.ts'
import type { Checkpoint, HeldLog } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import { startsTurn } from '../../agent/loop/turns.ts'
import { fromCheckpoint } from '../../agent/loop/view-checkpoint.ts'
import { EarlierEntries } from './earlier-entries.ts'

/** A log that was read with a checkpoint. */
export interface OpenedLog {
  /** The entries in memory: those that the agents show to their models, and all after the checkpoint. */
  readonly log: HeldLog
  /** The view that continues the checkpoint. Undefined if the checkpoint is unusable: then `log` is the whole log. */
  readonly view: SessionView | undefined
  /** Reads the entries before those of `log`. */
  readonly earlier: EarlierEntries | undefined
}

/**
 * Opens a log with the checkpoint that was read with it: continues its view, and reads only the turns that the agents show to their
 * models, or everything if an agent shows the whole log. A checkpoint that is damaged, of another version or of other agents is
 * ignored, and the whole log is read.
 */
export async function openCheckpoint(log: HeldLog, checkpoint: Checkpoint, tree: AgentTree): Promise<OpenedLog> {
  return (await continued(log, checkpoint, tree)) ?? (await whole(log, checkpoint))
}

async function whole(log: HeldLog, checkpoint: Checkpoint): Promise<OpenedLog> {
  const entries = [...(await checkpoint.entriesBefore()), ...log.entries]
  return { log: { ...log, entries, checkpoint: undefined }, view: undefined, earlier: undefined }
}

/** Undefined if the checkpoint does not fit the log. */
async function continued(log: HeldLog, checkpoint: Checkpoint, tree: AgentTree): Promise<OpenedLog | undefined> {
  const view = fromCheckpoint(tree, checkpoint.state)
  if (!view || view.seq !== checkpoint.seq || !isGapless(log.entries, checkpoint.seq)) return undefined
  view.catchUp(log.entries)
  const start = view.shownFrom
  const earlier = new EarlierEntries(checkpoint)
  const read = await earlier.read(start?.seq ?? 1).catch(() => undefined)
  if (!read) return undefined // reading the whole log says what is wrong with it
  const events = eventsOf(read)
  const eventsBefore = view.eventsBefore - events.length
  const isWhole = earlier.has(1)
  if (isWhole ? eventsBefore !== 0 : eventsBefore < 0) return undefined
  view.prepend(events)
  const first = start && view.events[start.event - view.eventsBefore]
  if (start && !(first && startsTurn(first))) return undefined
  return { log: { ...log, entries: [...read, ...log.entries] }, view, earlier }
}

/** Do the entries follow the checkpoint, one after another? */
function isGapless(entries: readonly Entry[], seq: number): boolean {
  return entries.every((entry, at) => entry.seq === seq + 1 + at)
}

/** The events of entries. */
export function eventsOf(entries: readonly Entry[]): Event[] {
  return entries.flatMap(({ event }) => (event ? [event] : []))
}

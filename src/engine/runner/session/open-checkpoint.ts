import type { Entry, Event } from '../../../core/event/event.ts'
import type { Checkpoint, HeldLog } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import { startsTurn } from '../../agent/loop/turns.ts'
import { fromCheckpoint } from '../../agent/loop/view-checkpoint.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { EarlierEntries } from './earlier-entries.ts'
import type { ViewMemo } from './view-memo.ts'

/** A log as it was read, perhaps with a checkpoint. */
export interface OpenedLog {
  /** The entries in memory: all, or those that the agents show to their models and all after the checkpoint. */
  readonly log: HeldLog
  /** The view that continues the checkpoint. Undefined without one: then `log` is the whole log. */
  readonly view: SessionView | undefined
  /** Reads the entries before those of `log`. Undefined if there are none. */
  readonly earlier: EarlierEntries | undefined
  /** Makes the checkpoints of the log. Undefined if the store keeps none. */
  readonly checkpoints: CheckpointWriter | undefined
}

/**
 * Opens a log with the checkpoint that was read with it: continues its view, and reads only the turns that the agents show to their
 * models, or everything if an agent shows the whole log. A checkpoint that is damaged, of another version or of other agents is
 * ignored, and the whole log is read. `keepsCheckpoints`: does the store keep those that the runner makes?
 */
export async function openCheckpoint(read: HeldLog, tree: AgentTree, keepsCheckpoints: boolean): Promise<OpenedLog> {
  const { checkpoint } = read
  const known = checkpoint && (await continued(read, checkpoint, tree))
  const opened = known ?? {
    log: checkpoint ? await wholeLog(read, checkpoint) : read,
    view: undefined,
    earlier: undefined,
  }
  return { ...opened, checkpoints: keepsCheckpoints ? writerOf(opened.log) : undefined }
}

async function wholeLog({ state, entries }: HeldLog, checkpoint: Checkpoint): Promise<HeldLog> {
  return { state, entries: [...(await checkpoint.entriesBefore()), ...entries] }
}

/** Goes on from the checkpoint that was read, or from the one that an earlier run in this process has stored. */
function writerOf({ checkpoint, memo }: HeldLog): CheckpointWriter {
  const kept: ViewMemo | undefined = memo
  const writer = kept?.checkpoints ?? new CheckpointWriter(checkpoint?.seq ?? 0)
  if (kept) kept.checkpoints = writer
  return writer
}

/** Undefined if the checkpoint does not fit the log. */
async function continued(
  log: HeldLog,
  checkpoint: Checkpoint,
  tree: AgentTree,
): Promise<Omit<OpenedLog, 'checkpoints'> | undefined> {
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
  // without its memo, which belongs to a copy of the log that may be older
  return { log: { state: log.state, entries: [...read, ...log.entries], checkpoint }, view, earlier }
}

/** Do the entries follow the checkpoint, one after another? */
function isGapless(entries: readonly Entry[], seq: number): boolean {
  return entries.every((entry, at) => entry.seq === seq + 1 + at)
}

/** The events of entries. */
export function eventsOf(entries: readonly Entry[]): Event[] {
  return entries.flatMap(({ event }) => (event ? [event] : []))
}

import type { Checkpoint, HeldLog } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { fromCheckpoint } from '../../agent/loop/view-checkpoint.ts'
import type { ViewMemo } from './view-memo.ts'

/**
 * The whole log of a session that was read with a checkpoint, and the view that continues the checkpoint. Agents show their models
 * the whole history today, so all entries before the checkpoint are read; but they are not folded again, unless the checkpoint is
 * damaged, old, or of other agents.
 */
export async function openCheckpoint(log: HeldLog, checkpoint: Checkpoint, tree: AgentTree): Promise<HeldLog> {
  const before = await checkpoint.entriesBefore()
  const entries = [...before, ...log.entries]
  const whole: HeldLog = { ...log, entries, checkpoint: undefined }
  const view = fromCheckpoint(tree, checkpoint.state)
  if (view?.seq !== checkpoint.seq || before.at(-1)?.seq !== checkpoint.seq) return whole
  view.prepend(before.flatMap(({ event }) => (event ? [event] : [])))
  return { ...whole, memo: { tree, view } satisfies ViewMemo }
}

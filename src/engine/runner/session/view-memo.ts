import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { SessionView } from '../../agent/loop/session-view.ts'
import type { CheckpointWriter } from './checkpoint-writer.ts'

/** What a runner caches in the `memo` of a log. */
export interface ViewMemo {
  /** The agents that the view was made for. */
  tree?: AgentTree
  /** The folded log. */
  view?: SessionView | undefined
  /** Whether a run uses the view. A run that lost its lease may still use it when the next run starts. */
  isHeld?: boolean
  /** Makes the checkpoints of the log. */
  checkpoints?: CheckpointWriter | undefined
}

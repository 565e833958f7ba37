// A view as JSON: what a store keeps of a log, so that opening the session does not have to read all of it.
import type { PhaseRecord } from '../../../core/event/event.ts'
import { type FoldCheckpoint, readFold, storeFold } from '../../../core/event/fold-checkpoint.ts'
import type { Agent } from '../agents/agent.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agents/workflow.ts'
import { type ReadonlyView, SessionView } from './session-view.ts'

/** The form of a checkpoint. A checkpoint of another version is ignored. */
const VERSION = 1

/** A view as JSON. */
export interface ViewCheckpoint {
  /** The form of the checkpoint. */
  readonly version: typeof VERSION
  /** The agents that decided which invocations are finished. For other agents, the log is read again. */
  readonly agents: string
  /** The sequence number of the latest entry in it. */
  readonly seq: number
  /** The number of events up to it. */
  readonly events: number
  /** Whether an event has a file. */
  readonly hasMedia: boolean
  /** Whether a call has waited. */
  readonly hasWaited: boolean
  /** Whether a call id is repeated, missing or not sendable. */
  readonly hasRepeats: boolean
  /** The phase of the conversation. */
  readonly phase?: PhaseRecord | undefined
  /** The agent that gets the next message. */
  readonly sticky?: string | undefined
  /** The latest invocation. */
  readonly latest?: FoldCheckpoint | undefined
  /** Earlier invocations that are unfinished. */
  readonly open: readonly FoldCheckpoint[]
  /** Ids of calls and requests of earlier invocations. */
  readonly earlierIds: readonly string[]
  /** The index of the first event of each agent tool's scope. */
  readonly isolated: readonly (readonly [path: string, event: number])[]
}

/** The checkpoint of a view. It shares objects with the view: make it a text at once. */
export function toCheckpoint(view: ReadonlyView, tree: AgentTree): ViewCheckpoint {
  const { latest, open, earlierIds, isolated, ...state } = view.stored
  return {
    version: VERSION,
    agents: shapeOf(tree),
    ...state,
    latest: latest && storeFold(latest),
    open: open.map(storeFold),
    earlierIds: [...earlierIds],
    isolated: [...isolated],
  }
}

/** The view of a checkpoint. Undefined if it has another version, is of other agents, or is damaged: then the whole log is read. */
export function fromCheckpoint(tree: AgentTree, checkpoint: object): SessionView | undefined {
  try {
    const { version, agents, latest, open, phase, sticky, ...state } = checkpoint as ViewCheckpoint // its version is checked first
    if (version !== VERSION || agents !== shapeOf(tree)) return undefined
    return SessionView.restore(tree, {
      ...state,
      phase,
      sticky,
      latest: latest && readFold(latest),
      open: open.map(readFold),
    })
  } catch {
    return undefined
  }
}

/** What decides whether an invocation is finished, and which agent gets the next message: names, kinds, rounds and transfers. */
function shapeOf(tree: AgentTree): string {
  const shape = (agent: Agent): unknown => [agent.name, kindOf(agent, tree), (agent.subAgents ?? []).map(shape)]
  return JSON.stringify(shape(tree.root))
}

function kindOf(agent: Agent, tree: AgentTree): unknown {
  if (agent instanceof LlmAgent) return ['llm', tree.canReturnToRoot(agent)]
  if (agent instanceof LoopAgent) return ['loop', agent.maxIterations]
  if (agent instanceof SequentialAgent) return ['sequential']
  return [agent instanceof ParallelAgent ? 'parallel' : 'custom']
}

// A view as JSON: what a store keeps of a log, so that opening the session does not have to read all of it.
import {
  aBoolean,
  aCount,
  aString,
  exactly,
  listOf,
  maybe,
  pairOf,
  type Shape,
  withMembers,
} from '../../../core/base/shape.ts'
import type { PhaseRecord } from '../../../core/event/event.ts'
import { type FoldCheckpoint, readFold, storeFold } from '../../../core/event/fold-checkpoint.ts'
import { foldShape } from '../../../core/event/fold-shape.ts'
import type { Agent } from '../agents/agent.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agents/workflow.ts'
import type { StoredIds } from './earlier-ids.ts'
import { type ReadonlyView, SessionView } from './session-view.ts'
import { readTurns, type StoredTurns, storeTurns, turnsShape } from './turns-checkpoint.ts'

/** The form of a checkpoint. A checkpoint of another version is ignored. */
const VERSION = 1

/** A view as JSON. */
export interface ViewCheckpoint {
  /** The form of the checkpoint. */
  readonly version: typeof VERSION
  /** The agents that decided which invocations are finished, and how much they show. For other agents, the log is read again. */
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
  readonly earlierIds: StoredIds
  /** The index of the first event of each agent tool's scope. */
  readonly isolated: readonly (readonly [path: string, event: number])[]
  /** The starts of the latest turns. */
  readonly turns: StoredTurns
}

/** The checkpoint of a view. It shares objects with the view: make it a text at once. */
export function toCheckpoint(view: ReadonlyView, tree: AgentTree): ViewCheckpoint {
  const { latest, open, isolated, turns, ...state } = view.stored
  return {
    version: VERSION,
    agents: shapeOf(tree),
    ...state,
    latest: latest && storeFold(latest),
    open: open.map(storeFold),
    isolated: [...isolated],
    turns: storeTurns(turns),
  }
}

/** The view of a checkpoint. Undefined if it has another version, is of other agents, or is damaged: then the whole log is read. */
export function fromCheckpoint(tree: AgentTree, stored: unknown): SessionView | undefined {
  if (!isCheckpoint(stored) || stored.agents !== shapeOf(tree)) return undefined
  const { latest, open, phase, sticky, turns, ...state } = stored
  try {
    return SessionView.restore(tree, {
      ...state,
      phase,
      sticky,
      latest: latest && readFold(latest),
      open: open.map(readFold),
      turns: readTurns(turns),
    })
  } catch {
    return undefined // it names something that it does not have
  }
}

const checkpointShape: Shape = exactly({
  version: (value) => value === VERSION,
  agents: aString,
  seq: aCount,
  events: aCount,
  hasMedia: aBoolean,
  hasWaited: aBoolean,
  hasRepeats: aBoolean,
  phase: maybe(withMembers({ type: (value) => value === 'phase', phase: aString, tools: maybe(listOf(aString)) })),
  sticky: maybe(aString),
  latest: maybe(foldShape),
  open: listOf(foldShape),
  earlierIds: (value) => value === 'all' || listOf(aString)(value),
  isolated: listOf(pairOf(aString, aCount)),
  turns: turnsShape,
})

/** Another process has stored it, perhaps of another version, and its row may be damaged. */
function isCheckpoint(stored: unknown): stored is ViewCheckpoint {
  if (!checkpointShape(stored)) return false
  const { seq, events, isolated, turns } = stored as ViewCheckpoint // its shape is checked
  if (events > seq) return false
  return (
    isolated.every(([, event]) => event < events) && turns.starts.every((start) => start[0] <= seq && start[1] < events)
  )
}

/**
 * What decides whether an invocation is finished, and which agent gets the next message: names, kinds, rounds and transfers. And
 * how many turns are kept.
 */
function shapeOf(tree: AgentTree): string {
  const shape = (agent: Agent): unknown => [agent.name, kindOf(agent, tree), (agent.subAgents ?? []).map(shape)]
  return JSON.stringify([shape(tree.root), tree.shownTurns.most])
}

function kindOf(agent: Agent, tree: AgentTree): unknown {
  if (agent instanceof LlmAgent) return ['llm', tree.canReturnToRoot(agent)]
  if (agent instanceof LoopAgent) return ['loop', agent.maxIterations]
  if (agent instanceof SequentialAgent) return ['sequential']
  return [agent instanceof ParallelAgent ? 'parallel' : 'custom']
}

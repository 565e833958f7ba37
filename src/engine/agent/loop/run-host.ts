import type { Event, EventActions } from '../../../core/event/event.ts'
import type { ScopePath } from '../../../core/event/scope.ts'
import type { RunCallbackContext } from '../../context/callback-context.ts'
import type { DispatchHost, DispatchServices, RunRecorder } from '../../dispatch/host.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { Operation } from '../../observe/operation.ts'
import type { AgentPlan } from '../agents/agent-plan.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import type { LlmAgent } from '../agents/llm-agent.ts'
import type { KeptToolsets } from '../request/kept-toolsets.ts'
import type { MediaOptions } from '../request/media-options.ts'
import type { ReadonlyView } from './session-view.ts'

/** The parts of the runner that the agent loop uses. */
export interface LoopServices extends DispatchServices {
  /** Which stored files are sent to models. */
  readonly media: MediaOptions
  /** Toolsets that dynamic sources have returned to the runs of this runner. */
  readonly keptToolsets: KeptToolsets
}

/** What changes while a run is under way, shared by all its scopes. */
export interface RunProgress {
  /** The number of replies whose calls are being dispatched. */
  dispatching: number
  /** The call ids of replies that are not recorded yet. */
  readonly replies: { has(callId: string): boolean }[]
  /** Tools as listed for the latest request of an agent whose tools are dynamic. */
  tables: Map<LlmAgent, ToolTable> | undefined
  /** Agents that were active in this run: `path\nname`. */
  entered: Set<string> | undefined
}

/** Writes to the log, for the agent loop. */
export interface LoopRecorder extends RunRecorder {
  /** Events of this scope are not shown to plugins. */
  hideFromPlugins(path: string): void
}

/** What the agent loop reads of the run it is part of. */
export interface RunHost extends DispatchHost {
  /** What all runs of the runner share. */
  readonly services: LoopServices
  /** Writes to the log of the session. */
  readonly recorder: LoopRecorder
  /** The session's log as folds and histories. */
  readonly view: ReadonlyView
  /** The agent tree of the runner. */
  readonly tree: AgentTree
  /** What all scopes of the run share. */
  readonly progress: RunProgress
  /** Most model calls of the invocation. */
  readonly maxLlmCalls: number
  /** The events for the consumer, partial events included. */
  readonly events: { listen(callback: (event: Event) => void): () => void }
}

/** A scope, and the tree its agents belong to. */
export interface ScopeFrame extends ScopePath {
  /** The tree of the runner, or that of an agent tool. */
  readonly tree: AgentTree
  /** The operation that the scope belongs to. Undefined: the scope is not observed. */
  readonly operation?: Operation | undefined
}

/** An LlmAgent that is active in a scope. */
export interface AgentTurn {
  /** The run the scope belongs to. */
  readonly run: RunHost
  /** The agent, with its model, tools and callbacks. */
  readonly plan: AgentPlan
  /** The scope. */
  readonly frame: ScopeFrame
}

/** One model call of an agent. */
export interface ModelTurn extends AgentTurn {
  /** Collects the actions of callbacks and of tools that change the request. */
  readonly context: RunCallbackContext
}

/** A model call whose reply is recorded. */
export interface RecordedTurn extends ModelTurn {
  /** The name of the model that replied. Undefined if a callback did. */
  readonly repliedBy?: string | undefined
  /** Returns the actions for the next event and clears them. Undefined if there are none. */
  takeActions(): EventActions | undefined
}

/** Waits for work until the run stops. A later result is ignored. */
export function untilStopped<T>(host: DispatchHost, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const listener = { stop: reject }
    host.stop.add(listener)
    work.then(resolve, reject).finally(() => host.stop.delete(listener))
  })
}

import type { DispatchHost } from '../../dispatch/host.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { Event } from '../../event/event.ts'
import type { CallState } from '../../event/fold.ts'
import type { ScopePath } from '../../event/scope.ts'
import type { Tool } from '../../tool/tool.ts'
import type { KeptToolsets } from '../request/kept-toolsets.ts'
import type { LlmAgent } from '../agents/llm-agent.ts'
import type { MediaOptions } from '../request/media-options.ts'
import type { SessionView } from './session-view.ts'
import type { AgentTree } from '../agents/agent-tree.ts'

/** What the walk needs of the run it is part of. */
export interface RunHost extends DispatchHost {
  readonly view: SessionView
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
  readonly maxLlmCalls: number
  readonly media: MediaOptions
  /** Tools as listed for the latest request of an agent whose tools depend on who asks. */
  tableOf(agent: LlmAgent): ToolTable | undefined
  /** Toolsets that dynamic sources have returned to the runs of this runner. */
  readonly keptToolsets: KeptToolsets
  keepTable(agent: LlmAgent, table: ToolTable): void
  /** The tool of a recorded call; undefined when it no longer exists, or its toolset is not listed in this run. */
  toolOf(call: CallState): Tool | undefined
  /** Replies whose calls are being answered now. */
  dispatching: number
  /** The ids of replies that are not recorded yet. */
  readonly replies: { has(callId: string): boolean }[]
  /** Notes that an agent got control in a scope; false when it had it before in this run. */
  enter(key: string): boolean
  /** What happens in this scope is none of the plugins' business. */
  hideFromPlugins(path: string): void
  /** Calls back with every event, partial ones too; the returned function takes it back. */
  listen(callback: (event: Event) => void): () => void
}

/** A scope, and the tree its agents belong to. */
export interface ScopeFrame extends ScopePath {
  readonly tree: AgentTree
}

/** Waits for work, but no longer than the run lives; what it gives afterwards is dropped. */
export function untilStopped<T>(host: DispatchHost, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const waiter = { stop: reject }
    host.onStop(waiter)
    work.then(resolve, reject).finally(() => host.forget(waiter))
  })
}

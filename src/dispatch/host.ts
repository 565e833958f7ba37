import type { Deadlines } from '../base/deadlines.ts'
import type { JsonObject } from '../base/json.ts'
import type { Ports } from '../base/ports.ts'
import type { Content, ModelOutput } from '../content/content.ts'
import type { CallState } from '../event/call-state.ts'
import type { Event, EventActions, NewEntry } from '../event/event.ts'
import type { Fold } from '../event/fold.ts'
import type { ScopePath } from '../event/scope.ts'
import type { CallContext } from '../tool/call-context.ts'
import type { ToolContext } from '../tool/context.ts'
import type { InvocationHost } from '../tool/host.ts'
import type { Tool } from '../tool/tool.ts'
import type { CallResult } from './outcome.ts'
import type { ToolEntry, ToolTable } from './resolve.ts'
import type { StopSignal } from './stop-signal.ts'

/** Where the framework tells the operator what nobody else is told. */
export interface Logger {
  warn(message: string, detail?: unknown): void
  error(message: string, detail?: unknown): void
}

/** What became of a call, as long as it is not in the log. */
export interface UnrecordedResult {
  readonly call: { readonly id: string }
  readonly response?: JsonObject
  readonly modelOutput?: ModelOutput | undefined
  readonly actions?: EventActions | undefined
  readonly pending?: boolean | undefined
}

/** An event that is still being written. */
export type EventDraft = { -readonly [K in keyof Event]: Event[K] }

/** The parts of the runner that every run shares: clock, timers, logger and limits. */
export interface DispatchServices {
  readonly ports: Ports
  readonly deadlines: Deadlines
  readonly logger: Logger
  /** Deadline of a tool body without its own `timeoutMs`. */
  readonly toolTimeoutMs: number
  readonly maxResultBytes: number
  readonly maxArgsBytes: number
  readonly maxCallsPerReply: number
}

/** Writes the entries of one run to the log and yields its events. */
export interface RunRecorder {
  /** A new event of this run, not recorded yet. */
  draft(author: string, scope: ScopePath | undefined, content: Content | undefined, actions: EventActions): EventDraft
  /** Records entries, all or none, then yields the events. */
  commit(entries: readonly NewEntry[]): Promise<void>
  /** Yields a partial event. A promise when the consumer is behind: a producer that can wait awaits it. */
  emit(event: Event): Promise<void> | undefined
  /** Undefined while the lease is valid for certain; else a promise that renews it, or rejects when it is lost. */
  checkLease(): Promise<void> | undefined
  /** Drains the inbox when it was last read some time ago: another process may have cancelled the run. */
  checkInbox(): Promise<void>
  /**
   * Results that wait for their siblings: they are recorded as they are if the run is stopped before. Call the returned
   * function when they are in the log.
   */
  keepUnrecorded(outcomes: readonly (UnrecordedResult | undefined)[]): () => void
}

/** What dispatch reads of the run it is part of. */
export interface DispatchHost extends InvocationHost {
  readonly fold: Fold
  readonly services: DispatchServices
  readonly recorder: RunRecorder
  readonly stop: StopSignal
}

/** Answers of a tool callback, by when it is asked. */
export interface ToolHooks {
  readonly beforeTool: readonly BeforeTool[]
  readonly afterTool: readonly AfterTool[]
  readonly onToolError: readonly OnToolError[]
}
/** Before the gates: answers instead of the tool, or gives other arguments. */
export type BeforeTool = (call: {
  tool: Tool
  args: Record<string, unknown>
  context: ToolContext
}) => Maybe<{ args: unknown; result?: undefined } | { result: unknown; args?: undefined }>
/** After the body: gives another result. */
export type AfterTool = (call: {
  tool: Tool
  args: Record<string, unknown>
  result: unknown
  context: ToolContext
}) => Maybe<unknown>
/** When the body failed: gives a result in its place. */
export type OnToolError = (call: {
  tool: Tool
  args: Record<string, unknown>
  error: unknown
  context: ToolContext
}) => Maybe<unknown>
// biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
type Maybe<T> = undefined | void | T | Promise<undefined | void | T>

/** Given by a scoped body that waits: it has asked for itself. */
export const SUSPENDED: unique symbol = Symbol('suspended')

/** The calls of one model reply, and what dispatching them needs. */
export interface Batch {
  readonly host: DispatchHost
  readonly scope: ScopePath
  readonly agentName: string
  readonly table: ToolTable
  /** Answers the code of the reply; undefined without a code executor. */
  readonly code: ToolEntry | undefined
  readonly hooks: ToolHooks
  readonly parallel: boolean
  readonly maxConcurrency: number
  readonly calls: readonly CallState[]
  /** Why control cannot transfer to that agent; undefined when it can. */
  transferProblem(target: string): { error: string; reachable: readonly string[] } | undefined
  /** Runs an agent tool or code as a scope of this invocation. */
  runInScope(ready: ScopedCall): Promise<unknown>
  /** Has the scope of this agent tool's call started? Then its gates were passed. */
  hasStarted(call: CallState): boolean
  /** A result that ends the agent's turn, without that mark when it does not match the agent's `outputSchema`. */
  checkFinal(result: CallResult): CallResult | Promise<CallResult>
  /** The grounding of the answer of an agent tool that propagates it. */
  groundingOf(call: CallState): JsonObject | undefined
  /** Yields progress of a running call. */
  readonly onProgress: (functionCallId: string, toolName: string, value: unknown) => void
}

/** A call of an agent tool, or code, whose scope is to run. */
export interface ScopedCall {
  readonly entry: ToolEntry
  readonly call: CallState
  readonly args: unknown
  readonly context: CallContext
}

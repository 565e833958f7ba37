import type { Deadlines } from '../../core/base/deadlines.ts'
import type { JsonObject } from '../../core/base/json.ts'
import type { Ports } from '../../core/base/ports.ts'
import type { StopSignal } from '../../core/base/stop-signal.ts'
import type { Content, ModelOutput } from '../../core/content/content.ts'
import type { ThrownInCall } from '../../core/error/thrown-in-call.ts'
import type { Event, EventActions, NewEntry } from '../../core/event/event.ts'
import type { Fold } from '../../core/event/fold.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import type { ScopePath } from '../../core/event/scope.ts'
import type { SessionKey } from '../../services/session/service.ts'
import type { CallContext } from '../context/call-context.ts'
import type { ToolContext } from '../context/context.ts'
import type { InvocationHost } from '../context/invocation-host.ts'
import type { ToolScheduling } from '../context/tool-scheduling.ts'
import type { Observation } from '../observe/observation.ts'
import type { ObservedRun, Operation } from '../observe/operation.ts'
import type { Tool } from '../tool/tool.ts'
import type { BatchRules } from './batch-rules.ts'
import type { CallResult } from './outcome.ts'
import type { ToolEntry, ToolTable } from './resolve.ts'
import type { RunPhases } from './run-phases.ts'

/** Where the framework reports problems to the operator. */
export interface Logger {
  /** Reports a problem the framework works around. */
  warn(message: string, detail?: unknown): void
  /** Reports a mistake that a developer must fix. */
  error(message: string, detail?: unknown): void
}

/** The result of a call that is not in the log yet. */
export interface UnrecordedResult {
  /** The call. */
  readonly call: { readonly id: string }
  /** The response; undefined for a call that waits. */
  readonly response?: JsonObject
  /** What the model sees instead of the response. */
  readonly modelOutput?: ModelOutput | undefined
  /** The writes of the body. */
  readonly actions?: EventActions | undefined
  /** The response is a handle; the result comes later. */
  readonly pending?: boolean | undefined
}

/** An event that is not recorded yet and may be changed. */
export type EventDraft = { -readonly [K in keyof Event]: Event[K] }

/** The parts of the runner that every run shares: clock, timers, logger and limits. */
export interface DispatchServices {
  /** Clock, timers and ids. */
  readonly ports: Ports
  /** Deadlines of bodies. */
  readonly deadlines: Deadlines
  /** Where problems are reported. */
  readonly logger: Logger
  /** Also gets the errors that tools throw. Set by a server for developers. */
  readonly onThrown: ((thrown: ThrownInCall) => void) | undefined
  /** Measures what runs do. Undefined: nothing is measured. */
  readonly observation: Observation | undefined
  /** Deadline of a tool body without its own `timeoutMs`, in milliseconds. */
  readonly toolTimeoutMs: number
  /** Deadline of an agent tool without its own `timeoutMs`, in milliseconds. */
  readonly agentToolTimeoutMs: number
  /** Larger results are truncated. */
  readonly maxResultBytes: number
  /** Calls with larger arguments are refused. */
  readonly maxArgsBytes: number
  /** Further calls of a reply are not run. */
  readonly maxCallsPerReply: number
  /** Runs background tools. Undefined: their calls are awaited, as for a single call. */
  readonly background: BackgroundRunner | undefined
  /** Stores what tools schedule. Undefined: they cannot. */
  readonly scheduling: ToolScheduling | undefined
}

/** Runs bodies in the background of text runs. */
export interface BackgroundRunner {
  /** Registers a call whose body starts now. */
  start(session: SessionKey, call: { readonly id: string; readonly name: string }): BackgroundTask
  /** Stops a call whose invocation was cancelled. */
  stop(session: SessionKey, callId: string): void
  /** Stops the calls of a session that was deleted, or of all sessions of a user. */
  stopAll(deleted: { readonly userId: string; readonly sessionId?: string }): void
  /** Does the body of the call run in this process? */
  isRunning(session: Pick<SessionKey, 'userId' | 'sessionId'>, callId: string): boolean
  /** Has a worker run the body of a call. Undefined: bodies run in the process that dispatches their calls. */
  readonly tell: ((session: SessionKey, callId: string) => Promise<void>) | undefined
}

/** A body that runs in the background. */
export interface BackgroundTask {
  /** Stops the body. */
  readonly stop: StopSignal
  /** Continues the invocation with the result. */
  finish(response: JsonObject, stateDelta: JsonObject | undefined): void
}

/** Writes the entries of one run to the log and yields its events. */
export interface RunRecorder {
  /** Creates an event of this run without recording it. */
  draft(author: string, scope: ScopePath | undefined, content: Content | undefined, actions: EventActions): EventDraft
  /** Appends entries, all or none, then yields the events. */
  commit(entries: readonly NewEntry[]): Promise<void>
  /** Yields a draft as a partial event, under an id of its own. Returns a promise when the consumer is behind: producers that can wait await it. */
  emit(event: EventDraft): Promise<void> | undefined
  /** Undefined while the lease is certainly valid. Else a promise that renews the lease, or rejects when it is lost. */
  checkLease(): Promise<void> | undefined
  /** Drains the inbox unless it was read recently: another process may have cancelled the run. */
  checkInbox(): Promise<void>
  /**
   * Keeps results that wait for other calls of their batch. If the run is stopped, these results are recorded. Call the
   * returned function when the results are in the log.
   */
  keepUnrecorded(outcomes: readonly (UnrecordedResult | undefined)[]): () => void
}

/** The parts of a run that dispatch uses. */
export interface DispatchHost extends InvocationHost {
  /** The state of the invocation. */
  readonly fold: Fold
  /** Clock, timers, logger and limits. */
  readonly services: DispatchServices
  /** Appends entries and yields events. */
  readonly recorder: RunRecorder
  /** Stops the run, or this scope of it. */
  readonly stop: StopSignal
  /** The phase of the conversation. Undefined if it has no phases. */
  readonly phases?: RunPhases | undefined
}

/** The tool callbacks of an agent and its plugins, in the order they are called. */
export interface ToolHooks {
  /** Called before the gates. */
  readonly beforeTool: readonly BeforeTool[]
  /** Called after the body. */
  readonly afterTool: readonly AfterTool[]
  /** Called when the call fails. */
  readonly onToolError: readonly OnToolError[]
}
/** Called before the gates. May return a result instead of the tool, or other arguments. */
export type BeforeTool = (call: {
  tool: Tool
  args: Record<string, unknown>
  context: ToolContext
}) => Maybe<{ args: unknown; result?: undefined } | { result: unknown; args?: undefined }>
/** Called after the body. May return another result. */
export type AfterTool = (call: {
  tool: Tool
  args: Record<string, unknown>
  result: unknown
  context: ToolContext
}) => Maybe<unknown>
/** Called when the call fails. May return a result instead of the error. */
export type OnToolError = (call: {
  tool: Tool
  args: Record<string, unknown>
  error: unknown
  context: ToolContext
}) => Maybe<unknown>
// biome-ignore lint/suspicious/noConfusingVoidType: a callback may return nothing
type Maybe<T> = undefined | void | T | Promise<undefined | void | T>

/** The value of a body that made requests, or whose scope waits for an answer or a result. */
export const SUSPENDED: unique symbol = Symbol('suspended')

/** The calls of one model reply, with everything needed to dispatch them. */
export interface Batch {
  /** The run. */
  readonly host: DispatchHost
  /** The scope of the reply. */
  readonly scope: ScopePath
  /** The operation that the calls belong to. Undefined: they are not observed, unless `bodyOf` is set. */
  readonly operation: Operation | undefined
  /** The run whose background call this process runs for another one. Its operations have no parent here. Undefined: it is not observed. */
  readonly bodyOf: ObservedRun | undefined
  /** The agent whose model replied. */
  readonly agentName: string
  /** The tools the reply may call. */
  readonly table: ToolTable
  /** Runs the code in the reply; undefined without a code executor. */
  readonly code: ToolEntry | undefined
  /** The tool callbacks. */
  readonly hooks: ToolHooks
  /** Run the calls at the same time? */
  readonly parallel: boolean
  /** How many calls run at the same time. */
  readonly maxConcurrency: number
  /** The calls to dispatch, in order. */
  readonly calls: readonly CallState[]
  /** Why a transfer to that agent is not possible; undefined when it is. */
  transferProblem(target: string): { error: string; reachable: readonly string[] } | undefined
  /** Why the escalation of a tool has no effect; undefined when an agent above ends with it. */
  escalationProblem(tool: Tool): string | undefined
  /** Runs an agent tool or code as a scope of this invocation. */
  runInScope(ready: ScopedCall): Promise<unknown>
  /** Has the scope of this agent tool call started? Then the call has passed its gates. */
  hasStarted(call: CallState): boolean
  /** Checks a result that ends the agent's turn. The turn continues if the result does not match the agent's `outputSchema`. */
  checkFinal(result: CallResult): CallResult | Promise<CallResult>
  /** The grounding of the reply of an agent tool; undefined when the tool does not propagate it. */
  groundingOf(call: CallState): JsonObject | undefined
  /** Yields progress of a running call. */
  readonly onProgress: (functionCallId: string, toolName: string, value: unknown) => void
  /** What the kind of conversation asks for. */
  readonly rules: BatchRules
  /** Stops single calls. Undefined: they stop with their run. */
  readonly stoppable: StoppableCalls | undefined
}

/** Calls of which each can be stopped alone. */
export interface StoppableCalls {
  /** Was the call stopped, for example while it was prepared? */
  isStopped(call: CallState): boolean
  /** The batch of one call, whose host can be stopped alone. */
  batchOf(call: CallState): Batch
  /** Ends what a stopped call has left open, and returns its response. */
  closeCall(call: CallState): Promise<CallResult>
}

/** A call of an agent tool, or code, that runs as a scope. */
export interface ScopedCall {
  /** The tool. */
  readonly entry: ToolEntry
  /** The call. */
  readonly call: CallState
  /** The validated arguments. */
  readonly args: unknown
  /** The context of the body. */
  readonly context: CallContext
}

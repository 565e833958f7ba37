import type { JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { Content, FunctionDeclaration } from '../content/content.ts'
import { isRequestName, REQUEST_PREFIX } from '../event/request-names.ts'
import type { Parsed } from '../schema/issues.ts'
import type { CallbackContext, ReadonlyContext, ToolContext } from './context.ts'
import type { LlmRequestConfig, WireTool } from './wire.ts'

/**
 * What a body may do to the world, which decides what happens when a process dies between the body and its record:
 * `none` and `idempotent` run again under the same key, `reconcilable` asks `reconcile`, `atMostOnce` is answered
 * "unknown outcome" and never run again by itself.
 */
export type Effect = 'none' | 'idempotent' | 'reconcilable' | 'atMostOnce'

/** What `reconcile` found out about an interrupted attempt. */
export type Reconciled = { status: 'done'; result: unknown } | { status: 'not-done' } | { status: 'unknown' }

/** One call on its way through a policy. */
export interface PolicyCall {
  readonly tool: Tool
  readonly args: unknown
  readonly context: ToolContext
  /** The call is of an agent tool whose agent began earlier and continues, after a pause or in another process. */
  readonly isResumed?: boolean | undefined
}

/** A layer around a body. `next` runs what is inside; it may be run again or not at all. */
export type Middleware = (call: PolicyCall, next: (call: PolicyCall) => Promise<unknown>) => Promise<unknown>

/** Anything a model can call. Any object that has these members is a tool; `tool()` makes one from a function. */
export interface Tool {
  /** The name the model calls. */
  readonly name: string
  /** What the tool does, for the model. */
  readonly description: string
  /** The declaration for the model. `undefined` makes the tool passive: not declared to the model, never dispatched. */
  declaration(): FunctionDeclaration | undefined
  /** A value, a promise, or a generator whose yields are progress and whose return is the result. */
  run(args: unknown, context: ToolContext): unknown
  /** Checks arguments; without it they are checked against the declaration's schema. */
  parse?(args: unknown): Parsed | Promise<Parsed>
  /** The result comes later, with `respond()`: `run` returns a handle, and the call stays pending. Default false. */
  readonly isLongRunning?: boolean | undefined
  /** The credential the tool needs. Not implemented: calls fail with `AUTH_FAILED`. */
  readonly authConfig?: AuthConfig | undefined
  /** What may happen twice: decides whether an interrupted call runs again after a crash. Default `atMostOnce`. */
  readonly effect?: Effect | undefined
  /** Finds out whether an interrupted attempt took effect. Required by `effect: 'reconcilable'`. */
  reconcile?(attempt: { idempotencyKey: string; args: unknown; context: ToolContext }): Reconciled | Promise<Reconciled>
  /**
   * Stops long-running work whose run was cancelled before the result. `handle` is what the body returned. It may be called
   * more than once, and the end of the run waits at most 5 s for it.
   */
  cancel?(work: { handle: JsonObject; idempotencyKey: string; args: unknown; context: ToolContext }): unknown
  /** A Standard Schema or plain JSON Schema that results must match. */
  readonly outputSchema?: unknown
  /**
   * What the model sees of a result, such as a summary of it; may be async. The event keeps the whole result. Media beside
   * the result is for the app only, unless what this returns brings its own (`withParts`).
   */
  toModelOutput?(call: { args: unknown; result: unknown; functionCallId: string }): unknown
  /** Deadline of `run` and `reconcile` in milliseconds. Default: `toolTimeoutMs` of the runner, 30,000. */
  readonly timeoutMs?: number | undefined
  /** Never run this call at the same time as other calls of the same model reply. Default false. */
  readonly sequential?: boolean | undefined
  /** Allow equal failing calls in a row without a limit, for tools that poll. Default false: the fourth ends the run. */
  readonly mayRepeat?: boolean | undefined
  /** The approver may change the arguments. They are checked like those of the model. Default false. */
  readonly allowEditedArgs?: boolean | undefined
  /** Time in milliseconds until a pending request of this tool expires and counts as denied. Default 24 hours. */
  readonly expiresInMs?: number | undefined
  /** Functions around `run`, the outermost first. Policies such as `retry()` add theirs here. Default: none. */
  readonly middleware?: readonly Middleware[] | undefined
  /** Wait for an approval before `run`: for every call, or for calls where the function returns true. Default false. */
  readonly requiresConfirmation?:
    | boolean
    | ((args: JsonObject, context: ReadonlyContext) => boolean | Promise<boolean>)
    | undefined
  /** The question for the approver. Default: ``Approve execution of tool `name`?`` */
  confirmationHint?(args: JsonObject): string
  /** Runs before every model call and may add to the request. */
  processLlmRequest?(request: LlmRequest, context: CallbackContext): void | Promise<void>
}

/** What a model is asked. Callbacks and tools may change it; the next request starts anew. */
export interface LlmRequest {
  model?: string
  contents: Content[]
  config: LlmRequestConfig
  /** Every tool the reply may call, by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Adds a paragraph to the system instruction. */
  appendInstruction(text: string): void
  /** Adds an entry to `config.tools`; one that is already there is not added twice. */
  appendWireTool(entry: WireTool): void
}

/** The names tools may have, except reserved ones. */
export const TOOL_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

/** Why a tool cannot have this name; undefined when it can. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'a tool needs a name'
  if (isRequestName(name)) return `names starting with "${REQUEST_PREFIX}" are reserved`
  if (!TOOL_NAME.test(name))
    return 'a name starts with a letter or "_" and has at most 128 letters, digits, "_", "-", "." or ":"'
  return undefined
}

/** Is it a tool: has it a name, a declaration and a body? */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false
  const tool = value as Partial<Tool>
  return typeof tool.name === 'string' && typeof tool.declaration === 'function' && typeof tool.run === 'function'
}

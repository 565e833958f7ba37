import type { JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { Content, FunctionDeclaration } from '../content/content.ts'
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
  /** What the model calls it. */
  readonly name: string
  readonly description: string
  /** `undefined` = passive: not advertised, never dispatched. */
  declaration(): FunctionDeclaration | undefined
  /** A value, a promise, or a generator whose yields are progress and whose return is the result. */
  run(args: unknown, context: ToolContext): unknown
  /** Checks arguments; without it they are checked against the declaration's schema. */
  parse?(args: unknown): Parsed | Promise<Parsed>
  readonly isLongRunning?: boolean | undefined
  readonly authConfig?: AuthConfig | undefined
  /** Default `atMostOnce`. */
  readonly effect?: Effect | undefined
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
  /** Replaces the runner's default. */
  readonly timeoutMs?: number | undefined
  /** Never runs beside its siblings. */
  readonly sequential?: boolean | undefined
  /** Exempt from the repeated-call breaker: for polling. */
  readonly mayRepeat?: boolean | undefined
  readonly allowEditedArgs?: boolean | undefined
  readonly expiresInMs?: number | undefined
  /** Policies around the body, the outermost first. */
  readonly middleware?: readonly Middleware[] | undefined
  readonly requiresConfirmation?:
    | boolean
    | ((args: JsonObject, context: ReadonlyContext) => boolean | Promise<boolean>)
    | undefined
  confirmationHint?(args: JsonObject): string
  /** Before every model call: adds to the request. */
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

/** Names the framework keeps for its own requests to humans. */
export const RESERVED_PREFIX = 'adk_request_'

/** Why a name cannot be a tool's, or undefined when it can. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'a tool needs a name'
  if (name.startsWith(RESERVED_PREFIX)) return `names starting with "${RESERVED_PREFIX}" are reserved`
  if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name))
    return 'a name starts with a letter or "_" and has at most 128 letters, digits, "_", "-", "." or ":"'
  return undefined
}

/** Is it a tool: has it a name, a declaration and a body? */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false
  const tool = value as Partial<Tool>
  return typeof tool.name === 'string' && typeof tool.declaration === 'function' && typeof tool.run === 'function'
}

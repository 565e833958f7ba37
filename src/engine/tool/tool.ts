import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import type { FunctionDeclaration } from '../../core/content/content.ts'
import { REQUEST_PREFIX } from '../../core/event/request-names.ts'
import type { ParseResult } from '../../core/schema/issues.ts'
import type { CallbackContext, ReadonlyContext, ToolContext } from '../context/context.ts'
import type { LlmRequest } from '../model/llm-request.ts'

/**
 * The side effects of a tool body. They decide what happens to a call that a crash interrupted: with `none` and `idempotent`
 * the body runs again with the same `idempotencyKey`; with `reconcilable` the framework calls `reconcile`; with `atMostOnce`
 * the response is `unknown_outcome`, and the body does not run again.
 */
export type Effect = 'none' | 'idempotent' | 'reconcilable' | 'atMostOnce'

/** What `reconcile` returns about an interrupted attempt. With `not-done` the body runs again. */
export type Reconciled = { status: 'done'; result: unknown } | { status: 'not-done' } | { status: 'unknown' }

/** One tool call, as middleware sees it. */
export interface PolicyCall {
  /** The called tool. */
  readonly tool: Tool
  /** The validated arguments. */
  readonly args: unknown
  /** The context of the call. */
  readonly context: ToolContext
  /**
   * Is it a resumed call of an agent tool, whose agent continues after a pause or in another process? Default false.
   */
  readonly isResumed?: boolean | undefined
  /** The most attempts of a policy that may call `next` again. It is recorded with attempts that fail. Default: unknown. */
  readonly attempts?: number | undefined
}

/** A function around a tool body. `next` runs the inner middleware and the body; it may be called several times or not at all. */
export type Middleware = (call: PolicyCall, next: (call: PolicyCall) => Promise<unknown>) => Promise<unknown>

/** Declares a method, so that a class may declare the arguments of its schema, as `run` and `confirmationHint` do. */
interface ConfirmationGate {
  requiresConfirmation(args: JsonObject, context: ReadonlyContext): boolean | Promise<boolean>
}

/** A function that a model can call. Any object with these members is a tool; `tool()` makes one from a function. */
export interface Tool {
  /** The name the model calls. */
  readonly name: string
  /** What the tool does, for the model. */
  readonly description: string
  /** The declaration for the model. `undefined` makes the tool passive: not declared to the model, never dispatched. */
  declaration(): FunctionDeclaration | undefined
  /** The body. Returns a value, a promise, or a generator whose yields are progress and whose return value is the result. */
  run(args: unknown, context: ToolContext): unknown
  /** Validates the arguments. Default: they are validated against the schema of the declaration. */
  parse?(args: unknown): ParseResult | Promise<ParseResult>
  /** The result arrives later, with `respond()`. `run` returns a handle, and the call stays pending. Default false. */
  readonly isLongRunning?: boolean | undefined
  /**
   * The credential the tool needs, or a list of credentials it needs at the same time. The run pauses for the consent of the
   * user. `context.authCredential` is the first credential, `context.authCredentials` has all of them.
   */
  readonly authConfig?: AuthConfig | readonly AuthConfig[] | undefined
  /** The side effects of `run`, which decide whether an interrupted call runs again after a crash. Default `atMostOnce`. */
  readonly effect?: Effect | undefined
  /** Finds out whether an interrupted attempt took effect. Required by `effect: 'reconcilable'`. */
  reconcile?(attempt: { idempotencyKey: string; args: unknown; context: ToolContext }): Reconciled | Promise<Reconciled>
  /**
   * Stops long-running work whose run was cancelled before the result. `handle` is what `run` returned. May be called more than
   * once. The run waits at most 5 s for it.
   */
  cancel?(work: { handle: JsonObject; idempotencyKey: string; args: unknown; context: ToolContext }): unknown
  /** A Standard Schema or plain JSON Schema that results must match. Default: results are not checked. */
  readonly outputSchema?: unknown
  /**
   * Returns what the model sees of a result, such as a summary; may be async. The event keeps the whole result. The model gets
   * no media of the result unless the returned value has its own (`withParts`). Default: the model sees the whole result.
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
  readonly requiresConfirmation?: boolean | ConfirmationGate['requiresConfirmation'] | undefined
  /** Returns the text shown to the approver. Default: ``Approve execution of tool `name`?`` */
  confirmationHint?(args: JsonObject): string
  /**
   * Where a call goes, such as a method and a URL: part of the definition that an approval is bound to. If it changes, the
   * approver is asked again. Plain data, or a function that returns it, which is called when a call pauses or resumes. If the
   * function throws, or returns something whose change cannot be seen, such as an instance of a class, no approval is valid. Only a
   * hash is recorded. Default: an approval is not bound to it.
   */
  readonly sendsTo?: JsonObject | string | ((context: ReadonlyContext) => unknown) | undefined
  /** Called before every model call. May add to the request. */
  processLlmRequest?(request: LlmRequest, context: CallbackContext): void | Promise<void>
}

/** Valid tool names, except reserved ones. */
export const TOOL_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

/** Why the name is invalid. Undefined if it is valid. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'a tool needs a name'
  if (name.startsWith(REQUEST_PREFIX)) return `names starting with "${REQUEST_PREFIX}" are reserved`
  if (!TOOL_NAME.test(name))
    return 'a name starts with a letter or "_" and has at most 128 letters, digits, "_", "-", "." or ":"'
  return undefined
}

/** Is the value a tool? */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false
  const tool = value as Partial<Tool>
  return typeof tool.name === 'string' && typeof tool.declaration === 'function' && typeof tool.run === 'function'
}

import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import type { InferInput, InferOutput } from '../../core/schema/schema-types.ts'
import type { CallbackContext, ReadonlyContext, ToolContext } from '../context/context.ts'
import type { LlmRequest } from '../model/llm-request.ts'
import type { Effect, Middleware, Reconciled, Tool } from './tool.ts'

/** A tool with the types of its arguments and result. */
export interface TypedTool<Args, Result> extends Tool {
  /** The body. Called by the dispatcher with validated arguments. */
  run(args: Args, context: ToolContext): Result
}

/** The arguments of a body. Without `parameters` there are none. */
export type ArgsOf<P> = P extends undefined ? Record<string, never> : InferOutput<P>

/** What a body may return. With an `outputSchema`: a value it accepts, a promise of one, or a generator that returns one. */
export type Returns<O> = O extends undefined ? unknown : Body<InferInput<O>>

/** The final result of a body, converted by the `outputSchema` if there is one. */
type ResultOf<O, R> = O extends undefined ? Returned<Awaited<R>> : InferOutput<O>

type Returned<R> = R extends Generator<unknown, infer V, unknown> | AsyncGenerator<unknown, infer V, unknown> ? V : R

type Body<V> = V | PromiseLike<V> | Generator<unknown, V, unknown> | AsyncGenerator<unknown, V, unknown>

/** Options of `tool()`: the members of `Tool`, with schemas instead of a declaration. */
export interface ToolOptions<P, O, R> {
  /** The name the model calls. A letter or `_`, then at most 127 letters, digits, `_`, `-`, `.` or `:`. */
  name: string
  /** What the tool does, for the model. */
  description: string
  /** Schema of the arguments: a Standard Schema such as Zod, or plain JSON Schema. Default: no arguments. */
  parameters?: P
  /** Schema of the result. Results are checked, and the model is sent the schema. Default: results are not checked. */
  outputSchema?: O
  /** The body. Returns a value, a promise, or a generator whose yields are progress and whose return value is the result. */
  run(args: ArgsOf<P>, context: ToolContext): R
  /**
   * Returns what the model sees of a result, such as a summary; may be async. The event keeps the whole result. The model gets
   * no media of the result unless the returned value has its own (`withParts`). Write it after `run`: then `result` has
   * the type that `run` returns. Default: the model sees the whole result.
   */
  toModelOutput?(call: { args: ArgsOf<P>; result: ResultOf<O, R>; functionCallId: string }): unknown
  /** The result arrives later, with `respond()`. `run` returns a handle, and the call stays pending. Default false. */
  isLongRunning?: boolean | undefined
  /** The credential the tool needs. The run pauses for the consent of the user, and `context.authCredential` is the credential. */
  authConfig?: AuthConfig | readonly AuthConfig[] | undefined
  /** The side effects of `run`, which decide whether an interrupted call runs again after a crash. Default `atMostOnce`. */
  effect?: Effect | undefined
  /** Finds out whether an interrupted attempt took effect. Required by `effect: 'reconcilable'`. */
  reconcile?(attempt: {
    idempotencyKey: string
    args: ArgsOf<P>
    context: ToolContext
  }): Reconciled | Promise<Reconciled>
  /**
   * Stops long-running work whose run was cancelled before the result. `handle` is what `run` returned. May be called more than
   * once. The run waits at most 5 s for it.
   */
  cancel?(work: { handle: JsonObject; idempotencyKey: string; args: ArgsOf<P>; context: ToolContext }): unknown
  /** Deadline of `run` and `reconcile` in milliseconds. Default: `toolTimeoutMs` of the runner, 30,000. */
  timeoutMs?: number | undefined
  /** Never run this call at the same time as other calls of the same model reply. Default false. */
  sequential?: boolean | undefined
  /** Allow equal failing calls in a row without a limit, for tools that poll. Default false: the fourth ends the run. */
  mayRepeat?: boolean | undefined
  /** The approver may change the arguments. They are checked like those of the model. Default false. */
  allowEditedArgs?: boolean | undefined
  /** Time in milliseconds until a pending request of this tool expires and counts as denied. Default 24 hours. */
  expiresInMs?: number | undefined
  /** Functions around `run`, the outermost first. Policies such as `retry()` add theirs here. Default: none. */
  middleware?: readonly Middleware[] | undefined
  /** Wait for an approval before `run`: for every call, or for calls where the function returns true. Default false. */
  requiresConfirmation?:
    | boolean
    | ((args: ArgsOf<P>, context: ReadonlyContext) => boolean | Promise<boolean>)
    | undefined
  /** The text shown to the approver: a string, or a function of the arguments. Default: ``Approve execution of tool `name`?`` */
  confirmationHint?: string | ((args: ArgsOf<P>) => string) | undefined
  /**
   * Where a call goes, such as a method and a URL: part of the definition that an approval is bound to. If it changes, the
   * approver is asked again. Plain data, or a function that returns it, which is called when a call pauses or resumes. If the
   * function throws, or returns something whose change cannot be seen, such as an instance of a class, no approval is valid. Only a
   * hash is recorded. Default: an approval is not bound to it.
   */
  sendsTo?: JsonObject | string | ((context: ReadonlyContext) => unknown) | undefined
  /** Called before every model call. May add to the request. */
  processLlmRequest?(request: LlmRequest, context: CallbackContext): void | Promise<void>
}

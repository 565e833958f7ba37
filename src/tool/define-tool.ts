import { isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { FunctionDeclaration } from '../content/content.ts'
import { anything, checkOptions, type OptionRules, textOrCallback } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { compileSchema } from '../schema/compile.ts'
import type { InferInput, InferOutput, Schema } from '../schema/infer.ts'
import type { Parsed } from '../schema/issues.ts'
import { registerBuiltTool } from './built-tools.ts'
import { COMMON_RULES, checkReconcile } from './check-tool.ts'
import type { CallbackContext, ReadonlyContext, ToolContext } from './context.ts'
import { lazyDeclaration } from './lazy-declaration.ts'
import { addPendingNote } from './pending-note.ts'
import { type Effect, type LlmRequest, type Middleware, nameProblem, type Reconciled, type Tool } from './tool.ts'

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
export type ResultOf<O, R> = O extends undefined ? Returned<Awaited<R>> : InferOutput<O>

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
  /** The result comes later, with `respond()`. `run` returns a handle, and the call stays pending. Default false. */
  isLongRunning?: boolean | undefined
  /** The credential the tool needs. Not implemented: calls fail with `AUTH_FAILED`. */
  authConfig?: AuthConfig | undefined
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
  /** Called before every model call. May add to the request. */
  processLlmRequest?(request: LlmRequest, context: CallbackContext): void | Promise<void>
}

/**
 * Makes a tool from a function and the schema of its arguments, which are checked before it runs.
 *
 * @example
 * const getWeather = tool({
 *   name: 'get_weather',
 *   description: 'Get current weather for a city',
 *   parameters: z.object({ city: z.string() }),
 *   run: async ({ city }) => ({ city, temperature: 22 }),
 * })
 */
export function tool<
  const P extends Schema | undefined = undefined,
  const O extends Schema | undefined = undefined,
  R extends Returns<O> = Returns<O>,
>(options: ToolOptions<P, O, R>): TypedTool<ArgsOf<P>, R> {
  checkToolOptions(options)
  const { name, description, parameters, outputSchema, confirmationHint, isLongRunning, run } = options
  const what = `Tool "${name}"`
  const input = parameters === undefined ? undefined : compileSchema(parameters, what, { object: true })
  const output = outputSchema === undefined ? undefined : compileSchema(outputSchema, `${what}, output schema`)
  const declaration = lazyDeclaration(() => {
    const plain: FunctionDeclaration = {
      name,
      description,
      ...(input && { parametersJsonSchema: input.jsonSchema }),
      ...(output && { responseJsonSchema: output.jsonSchema }),
    }
    return isLongRunning ? addPendingNote(plain) : plain
  })
  const made: JsonObject = {
    name,
    description,
    declaration,
    parse: input ? input.parse : parseNoArgs,
    run: run.bind(options),
    ...(output && { outputSchema }),
  }
  // Not a spread: it would leave out what an instance of a class inherits, such as its gate.
  for (const key of COPIED_OPTIONS) {
    const value: unknown = options[key]
    if (value !== undefined) made[key] = typeof value === 'function' ? value.bind(options) : value
  }
  if (typeof confirmationHint === 'string') made.confirmationHint = () => confirmationHint
  // The cast is true: the dispatcher passes what `parse` returned, which has the type `ArgsOf<P>`.
  // Frozen, because callbacks get the tool itself and must not open its gate for later calls.
  const built = Object.freeze(made) as unknown as TypedTool<ArgsOf<P>, R>
  registerBuiltTool(built)
  return built
}

/** Options that are copied to the tool. Functions are bound to the options. */
const COPIED_OPTIONS = [
  'isLongRunning',
  'authConfig',
  'effect',
  'reconcile',
  'cancel',
  'timeoutMs',
  'sequential',
  'mayRepeat',
  'allowEditedArgs',
  'expiresInMs',
  'middleware',
  'requiresConfirmation',
  'confirmationHint',
  'toModelOutput',
  'processLlmRequest',
] as const

// Models add arguments that no parameter declares. They are dropped, like unknown keys of a schema.
function parseNoArgs(args: unknown): Parsed {
  if (isRecord(args)) return { value: {} }
  return { issues: [{ path: '', expected: 'an object' }] }
}

const RULES: OptionRules<ToolOptions<undefined, undefined, unknown>> = {
  ...COMMON_RULES,
  parameters: anything,
  confirmationHint: textOrCallback,
}

function checkToolOptions(options: unknown): void {
  if (typeof options === 'function')
    throw new ToolwrightError(
      'NEEDS_INFER',
      'tool(fn) needs the build step of "toolwright/infer", which generates the schema from the types of the function. ' +
        'Add it to the build, or pass options: tool({ name, description, parameters, run }).',
    )
  if (!isRecord(options))
    throw invalid(`tool() takes an object { name, description, parameters, run }, got ${kindOf(options)}.`)
  const { name, description, run } = options
  if (name === undefined)
    throw invalid(`A tool needs a name: tool({ name, description, run }).${aiSdkToolHint(options)}`)
  const problem = nameProblem(name)
  if (problem) throw invalid(`Tool ${JSON.stringify(name)}: ${problem}.`)
  const what = `Tool "${String(name)}"`
  checkOptions(what, options, RULES) // before the checks for missing options: the option may be there under the name that another kit uses
  if (typeof description !== 'string')
    throw invalid(`${what} needs a description, a string that tells the model what the tool does.`)
  if (typeof run !== 'function') throw invalid(`${what} needs a run function: run: (args, context) => result.`)
  checkReconcile(what, options as Pick<Tool, 'effect' | 'reconcile'>)
}

/** Advice for a value that is a tool of the AI SDK. Empty for other values. */
export function aiSdkToolHint(value: unknown): string {
  const isAiSdk = isRecord(value) && ('inputSchema' in value || 'execute' in value)
  return isAiSdk ? ' To use a tool of the AI SDK, call fromAiSdkTools({ name: tool }) of "toolwright/ai-sdk".' : ''
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}

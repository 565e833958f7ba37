import { isRecord, type JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { FunctionDeclaration } from '../content/content.ts'
import { anything, checkOptions, type OptionRules, textOrCallback } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { compileSchema } from '../schema/compile.ts'
import type { InferInput, InferOutput, Schema } from '../schema/infer.ts'
import type { Parsed } from '../schema/issues.ts'
import { lazyDeclaration, registerBuiltTool } from './built-tools.ts'
import { COMMON_RULES, checkReconcile } from './check-tool.ts'
import type { CallbackContext, ReadonlyContext, ToolContext } from './context.ts'
import { addPendingNote } from './pending-note.ts'
import { type Effect, type LlmRequest, type Middleware, nameProblem, type Reconciled, type Tool } from './tool.ts'

/** A tool whose author knows its types; to the framework it is a `Tool`. */
export interface TypedTool<Args, Result> extends Tool {
  run(args: Args, context: ToolContext): Result
}

/** What a body gets: no parameters means no arguments. */
export type ArgsOf<P> = P extends undefined ? Record<string, never> : InferOutput<P>

/** What a body may return: with an output schema a value it accepts, a promise of one, or a generator that returns one. */
export type Returns<O> = O extends undefined ? unknown : Body<InferInput<O>>

/** What a body gives in the end: checked and converted by the output schema, if there is one. */
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
   * What the model sees of a result, such as a summary of it; may be async. The event keeps the whole result. Media beside
   * the result is for the app only, unless what this returns brings its own (`withParts`). Write it after `run`: then
   * `result` has the type that `run` returns.
   */
  toModelOutput?(call: { args: ArgsOf<P>; result: ResultOf<O, R>; functionCallId: string }): unknown
  /** The result comes later, with `respond()`: `run` returns a handle, and the call stays pending. Default false. */
  isLongRunning?: boolean | undefined
  /** The credential the tool needs. Not implemented: calls fail with `AUTH_FAILED`. */
  authConfig?: AuthConfig | undefined
  /** What may happen twice: decides whether an interrupted call runs again after a crash. Default `atMostOnce`. */
  effect?: Effect | undefined
  /** Finds out whether an interrupted attempt took effect. Required by `effect: 'reconcilable'`. */
  reconcile?(attempt: {
    idempotencyKey: string
    args: ArgsOf<P>
    context: ToolContext
  }): Reconciled | Promise<Reconciled>
  /**
   * Stops long-running work whose run was cancelled before the result. `handle` is what `run` returned. It may be called more
   * than once, and the end of the run waits at most 5 s for it.
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
  /** The question for the approver: a text, or a function of the arguments. Default: ``Approve execution of tool `name`?`` */
  confirmationHint?: string | ((args: ArgsOf<P>) => string) | undefined
  /** Runs before every model call and may add to the request. */
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
  check(options)
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
    parse: input ? input.parse : parseNothing,
    run: run.bind(options),
    ...(output && { outputSchema }),
  }
  // By name, not by spread: a spread leaves out what an instance of a class inherits, such as its gate.
  for (const key of KEPT) {
    const value: unknown = options[key]
    if (value !== undefined) made[key] = typeof value === 'function' ? value.bind(options) : value
  }
  if (typeof confirmationHint === 'string') made.confirmationHint = () => confirmationHint
  // The predicates are typed with Args for the author; the framework passes what `parse` gave.
  // Frozen: callbacks get the tool itself, and must not open its gate for the calls that follow.
  const built = Object.freeze(made) as unknown as TypedTool<ArgsOf<P>, R>
  registerBuiltTool(built)
  return built
}

/** Options that become members as they are; functions run on the options. */
const KEPT = [
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

// Models add arguments nobody asked for; like any schema's unknown keys they are left out.
function parseNothing(args: unknown): Parsed {
  if (isRecord(args)) return { value: {} }
  return { issues: [{ path: '', expected: 'an object' }] }
}

const RULES: OptionRules<ToolOptions<undefined, undefined, unknown>> = {
  ...COMMON_RULES,
  parameters: anything,
  confirmationHint: textOrCallback,
}

function check(options: unknown): void {
  if (typeof options === 'function')
    throw new ToolwrightError(
      'NEEDS_INFER',
      'tool(fn) needs the build step of "toolwright/infer", which writes the schema from the types of the function. ' +
        'Add it to the build, or pass options: tool({ name, description, parameters, run }).',
    )
  if (!isRecord(options)) throw invalid('tool() takes an object: { name, description, parameters, run }.')
  const { name, description, run } = options
  if (name === undefined)
    throw invalid(`A tool needs a name: tool({ name, description, run }).${aiSdkToolHint(options)}`)
  const problem = nameProblem(name)
  if (problem) throw invalid(`Tool ${JSON.stringify(name)}: ${problem}.`)
  const what = `Tool "${String(name)}"`
  checkOptions(what, options, RULES) // before what is missing: it may be there under the name of another kit
  if (typeof description !== 'string')
    throw invalid(`${what} needs a description, a string: it is all the model knows about it.`)
  if (typeof run !== 'function')
    throw invalid(`${what} needs a run function, its body: run: (args, context) => result.`)
  checkReconcile(what, options as Pick<Tool, 'effect' | 'reconcile'>)
}

/** What to do with a tool that was written for the AI SDK. */
export function aiSdkToolHint(value: unknown): string {
  const isAiSdk = isRecord(value) && ('inputSchema' in value || 'execute' in value)
  return isAiSdk ? ' A tool of the AI SDK is converted by fromAiSdkTools({ name: tool }) of "toolwright/ai-sdk".' : ''
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}

import { isRecord, type JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { FunctionDeclaration } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import { compileSchema } from '../schema/compile.ts'
import type { InferInput, InferOutput, Schema } from '../schema/infer.ts'
import type { Parsed } from '../schema/parsed.ts'
import type { CallbackContext, ReadonlyContext, ToolContext } from './context.ts'
import { notePending } from './define-pending.ts'
import { type Effect, type LlmRequest, type Middleware, nameProblem, type Reconciled, type Tool } from './tool.ts'

/** A tool whose author knows its types; to the framework it is a `Tool`. */
export interface TypedTool<Args, Result> extends Tool {
  run(args: Args, context: ToolContext): Result
}

/** What a body gets: no parameters means no arguments. */
export type ArgsOf<P> = P extends undefined ? Record<string, never> : InferOutput<P>

/** What a body may return: with an output schema a value it accepts, a promise of one, or a generator that returns one. */
export type Returns<O> = O extends undefined ? unknown : Body<InferInput<O>>

type Body<V> = V | PromiseLike<V> | Generator<unknown, V, unknown> | AsyncGenerator<unknown, V, unknown>

/** What `tool()` takes: the members of `Tool`, with schemas instead of a declaration. */
export interface ToolOptions<P, O, R> {
  /** What the model calls it. */
  name: string
  /** What the model is told it does. */
  description: string
  /** Omitted = no parameters. */
  parameters?: P
  /** Results must match it; the model is told. */
  outputSchema?: O
  run(args: ArgsOf<P>, context: ToolContext): R
  isLongRunning?: boolean | undefined
  authConfig?: AuthConfig | undefined
  /** Default `atMostOnce`. */
  effect?: Effect | undefined
  /** Needed by `effect: 'reconcilable'`: what became of an attempt nobody heard from. */
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
  timeoutMs?: number | undefined
  sequential?: boolean | undefined
  mayRepeat?: boolean | undefined
  allowEditedArgs?: boolean | undefined
  expiresInMs?: number | undefined
  middleware?: readonly Middleware[] | undefined
  requiresConfirmation?:
    | boolean
    | ((args: ArgsOf<P>, context: ReadonlyContext) => boolean | Promise<boolean>)
    | undefined
  /** What a human is asked. */
  confirmationHint?: string | ((args: ArgsOf<P>) => string) | undefined
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
  checkOptions(options)
  const { name, description, parameters, outputSchema, confirmationHint, ...others } = options
  const { run, reconcile, cancel, processLlmRequest, ...rest } = others
  const what = `Tool "${name}"`
  const input = parameters === undefined ? undefined : compileSchema(parameters, what, { object: true })
  const output = outputSchema === undefined ? undefined : compileSchema(outputSchema, `${what}, output schema`)
  const plain: FunctionDeclaration = {
    name,
    description,
    ...(input && { parametersJsonSchema: input.jsonSchema }),
    ...(output && { responseJsonSchema: output.jsonSchema }),
  }
  const declaration = options.isLongRunning ? notePending(plain) : plain
  const made = {
    ...rest,
    name,
    description,
    declaration: () => declaration,
    parse: input ? input.parse : parseNothing,
    run: run.bind(options),
    ...(output && { outputSchema }),
    ...(reconcile && { reconcile: reconcile.bind(options) }),
    ...(cancel && { cancel: cancel.bind(options) }),
    ...(processLlmRequest && { processLlmRequest: processLlmRequest.bind(options) }),
    ...(confirmationHint !== undefined && {
      confirmationHint: typeof confirmationHint === 'string' ? () => confirmationHint : confirmationHint,
    }),
  }
  // The predicates are typed with Args for the author; the framework passes what `parse` gave.
  return made as unknown as TypedTool<ArgsOf<P>, R>
}

// Models add arguments nobody asked for; like any schema's unknown keys they are left out.
function parseNothing(args: unknown): Parsed {
  if (isRecord(args)) return { value: {} }
  return { issues: [{ path: '', expected: 'an object' }] }
}

const MAX_TIMER = 2_147_483_647

function checkOptions(options: unknown): void {
  if (typeof options === 'function')
    throw new ToolwrightError(
      'NEEDS_INFER',
      'tool(fn) needs the build step of "toolwright/infer", which writes the schema from the types of the function. ' +
        'Add it to the build, or pass options: tool({ name, description, parameters, run }).',
    )
  if (!isRecord(options)) throw invalid('tool() takes an object: { name, description, parameters, run }.')
  const { name, description, run, effect, reconcile, timeoutMs, expiresInMs, requiresConfirmation, middleware } =
    options as JsonObject
  const problem = nameProblem(name)
  if (problem) throw invalid(`Tool ${JSON.stringify(name)}: ${problem}.`)
  const what = `Tool "${String(name)}"`
  if (typeof description !== 'string') throw invalid(`${what} needs a description: it is all the model knows about it.`)
  if (typeof run !== 'function') throw invalid(`${what} needs a run function.`)
  if (effect !== undefined && !EFFECTS.has(effect))
    throw invalid(`${what}: effect is one of ${[...EFFECTS].join(', ')}.`)
  if (effect === 'reconcilable' && typeof reconcile !== 'function')
    throw invalid(`${what}: effect "reconcilable" needs a reconcile function that finds out what an attempt did.`)
  for (const [option, ms] of Object.entries({ timeoutMs, expiresInMs })) {
    if (ms === undefined) continue
    if (option === 'timeoutMs' && ms === Number.POSITIVE_INFINITY) continue // it may take as long as it takes
    if (typeof ms !== 'number' || !(ms > 0) || !Number.isFinite(ms))
      throw invalid(`${what}: ${option} must be a positive number of milliseconds.`)
    if (option === 'timeoutMs' && ms > MAX_TIMER) throw invalid(`${what}: timeoutMs must be at most ${MAX_TIMER}.`)
  }
  if (!['undefined', 'boolean', 'function'].includes(typeof requiresConfirmation))
    throw invalid(`${what}: requiresConfirmation is a boolean or a function.`)
  if (
    middleware !== undefined &&
    !(Array.isArray(middleware) && middleware.every((layer) => typeof layer === 'function'))
  )
    throw invalid(`${what}: middleware is a list of functions.`)
}

const EFFECTS = new Set<unknown>(['none', 'idempotent', 'reconcilable', 'atMostOnce'])

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}

import { isRecord, type JsonObject } from '../../core/base/json.ts'
import type { FunctionDeclaration } from '../../core/content/content.ts'
import { type CompiledSchema, compileSchema } from '../../core/schema/compile.ts'
import type { ParseResult } from '../../core/schema/issues.ts'
import { createMarkedConverter, hasTypeMarks, withoutTypeMarks } from '../../core/schema/marked-strings.ts'
import type { Schema } from '../../core/schema/schema-types.ts'
import { hideAllCredentials } from '../../services/auth/config/hide-credentials.ts'
import { registerBuiltTool } from './built-tools.ts'
import { hidePlace } from './call-place.ts'
import { checkToolOptions } from './check-tool-options.ts'
import { type FunctionArgs, type FunctionToolOptions, functionToolOptions } from './functions/function-tool-options.ts'
import { type InferredFunction, inferredOf } from './functions/inferred-function.ts'
import { needsInferError } from './functions/needs-infer.ts'
import type { AnyFunction, NoToolFactory } from './functions/tool-function.ts'
import { lazyDeclaration } from './lazy-declaration.ts'
import { addPendingNote } from './long-running-note.ts'
import type { Tool } from './tool.ts'
import type { ArgsOf, Returns, ToolOptions, TypedTool } from './tool-options.ts'

/**
 * Makes a tool: from options with a body and the schema of its arguments, or from a plain function whose name, description and
 * schema `toolwright/infer` reads from its source. Arguments are checked before the body runs.
 *
 * @example
 * const getWeather = tool({
 *   name: 'get_weather',
 *   description: 'Get current weather for a city',
 *   parameters: z.object({ city: z.string() }),
 *   run: async ({ city }) => ({ city, temperature: 22 }),
 * })
 *
 * @example
 * const refundTool = tool(refund, { requiresConfirmation: true })
 */
export function tool<
  const P extends Schema | undefined = undefined,
  const O extends Schema | undefined = undefined,
  R extends Returns<O> = Returns<O>,
  F extends AnyFunction = AnyFunction,
>(from: ToolOptions<P, O, R> | (F & NoToolFactory<F>), options?: FunctionToolOptions<F, P, O>): DefinedTool<P, R, F> {
  // The casts are true: the dispatcher passes what `parse` returned, which has the type of the arguments.
  if (typeof from !== 'function') return buildTool(from) as DefinedTool<P, R, F>
  const inferred = inferredOf(from)
  if (!inferred) throw needsInferError(from)
  return buildTool(functionToolOptions(from, inferred, options), inferred) as DefinedTool<P, R, F>
}

/** The tool that `tool()` makes. With options instead of a function, `F` is inferred as `AnyFunction` itself. */
export type DefinedTool<P, R, F extends AnyFunction> = AnyFunction extends F
  ? TypedTool<ArgsOf<P>, R>
  : TypedTool<FunctionArgs<F, P>, ReturnType<F>>

const toolsOfFunctions = new WeakMap<InferredFunction, Tool>()

/** The tool of a plain function in a list of tools, the same one each time. `where` is the plural subject of the error. */
export function toolOfFunction(fn: AnyFunction, where: string): Tool {
  const inferred = inferredOf(fn)
  if (!inferred) throw needsInferError(fn, where)
  // by what was read: a watch mode may read the same function again
  const made = toolsOfFunctions.get(inferred) ?? tool(fn)
  toolsOfFunctions.set(inferred, made)
  return made
}

function buildTool(given: unknown, inferred?: InferredFunction): Tool {
  checkToolOptions(given)
  const options = given as ToolOptions<Schema | undefined, Schema | undefined, unknown>
  const { name, description, parameters, outputSchema, confirmationHint, isLongRunning, run } = options
  const what = `Tool "${name}"`
  const input = parameters === undefined ? undefined : compileParameters(parameters, what, inferred)
  const output = outputSchema === undefined ? undefined : compileSchema(outputSchema, `${what}, output schema`)
  const response = output ? output.jsonSchema : inferred?.response
  const declaration = lazyDeclaration(() => {
    const plain: FunctionDeclaration = {
      name,
      description,
      ...(input && { parametersJsonSchema: input.jsonSchema }),
      ...(response && { responseJsonSchema: response }),
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
  if (options.authConfig) made.authConfig = hideAllCredentials(options.authConfig)
  if (options.sendsTo !== undefined) made.sendsTo = hidePlace(options)
  if (typeof confirmationHint === 'string') made.confirmationHint = () => confirmationHint
  // Frozen, because callbacks get the tool itself and must not remove its gate for later calls.
  const built = Object.freeze(made) as unknown as Tool
  registerBuiltTool(built)
  return built
}

/** Compiles the schema of the arguments. Values that the types of a function mark, such as dates, are converted after the check. */
function compileParameters(
  parameters: Schema,
  what: string,
  inferred: InferredFunction | undefined,
): Pick<CompiledSchema, 'jsonSchema' | 'parse'> {
  if (parameters !== inferred?.parameters || !hasTypeMarks(parameters))
    return compileSchema(parameters, what, { object: true })
  const checked = compileSchema(withoutTypeMarks(inferred.parameters), what, { object: true })
  const convert = createMarkedConverter(inferred.parameters)
  return {
    jsonSchema: checked.jsonSchema,
    parse: (args) => {
      const parsed = checked.parse(args) as ParseResult // a plain JSON Schema is checked synchronously
      return parsed.issues ? parsed : convert(parsed.value)
    },
  }
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
function parseNoArgs(args: unknown): ParseResult {
  if (isRecord(args)) return { value: {} }
  return { issues: [{ path: '', expected: 'an object' }] }
}

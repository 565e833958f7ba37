import { isRecord, type JsonObject } from '../base/json.ts'
import type { FunctionDeclaration } from '../content/content.ts'
import { compileSchema } from '../schema/compile.ts'
import type { Schema } from '../schema/infer.ts'
import type { Parsed } from '../schema/issues.ts'
import { registerBuiltTool } from './built-tools.ts'
import { checkToolOptions } from './check-tool-options.ts'
import { lazyDeclaration } from './lazy-declaration.ts'
import { addPendingNote } from './pending-note.ts'
import type { ArgsOf, Returns, ToolOptions, TypedTool } from './tool-options.ts'

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
  // Frozen, because callbacks get the tool itself and must not remove its gate for later calls.
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

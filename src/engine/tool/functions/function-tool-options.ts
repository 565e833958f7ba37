import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { anything, checkOptions, type OptionRules, textOrCallback } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { COMMON_RULES } from '../check-tool.ts'
import type { ArgsOf, ToolOptions } from '../tool-options.ts'
import { createBody } from './call-function.ts'
import type { InferredFunction } from './inferred-function.ts'
import type { AnyFunction } from './tool-function.ts'

/**
 * The arguments of a call, as callbacks such as `requiresConfirmation` get them: those of the explicit `parameters` if there are any,
 * else the type of the function's one object parameter, else an object of its parameters by name.
 */
export type FunctionArgs<F extends AnyFunction, P = undefined> = P extends undefined
  ? ObjectParameter<WithoutContext<Required<Parameters<F>>>>
  : ArgsOf<P>

type WithoutContext<P extends readonly unknown[]> = P extends readonly [infer First, ...infer Rest]
  ? IsContext<First> extends true
    ? WithoutContext<Rest>
    : [First, ...WithoutContext<Rest>]
  : P

type IsContext<T> = [T] extends [never] ? false : NonNullable<T> extends ReadonlyContext ? true : false

// Types do not know the names of parameters, so parameters that are passed by name are an object of unknown values. A wrong type here
// would let a gate read properties that do not exist.
type ObjectParameter<P extends readonly unknown[]> = P extends readonly [infer Only]
  ? unknown extends Only
    ? Record<string, unknown>
    : IsArguments<NonNullable<Only>> extends true
      ? NonNullable<Only>
      : Record<string, unknown>
  : Record<string, unknown>

/** Whether the only parameter is the object of all arguments. `toolwright/infer` decides in the same way. */
type IsArguments<T> =
  IsUnion<T> extends true
    ? false
    : T extends string | number | boolean | readonly unknown[] | Date | Uint8Array | AnyFunction // also branded strings
      ? false
      : // a type with index signatures only, such as Record<string, number>, is one value
        Record<never, never> extends Record<keyof T, 1>
        ? false
        : T extends object
          ? true
          : false

type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never

type InferredOption = 'name' | 'description' | 'parameters'

/** A stand-in for the schema of the arguments: only the type of its value is used. */
interface SchemaOf<A> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { readonly value: A }
    readonly types?: { readonly input: A; readonly output: A } | undefined
  }
}

/** Options of `tool(fn, options)`: those of `tool()` without the body. An explicit option wins over what is inferred. */
export type FunctionToolOptions<F extends AnyFunction, P = undefined, O = undefined> = Partial<
  Pick<ToolOptions<P, O, ReturnType<F>>, InferredOption>
> &
  Omit<ToolOptions<SchemaOf<FunctionArgs<F, P>>, O, ReturnType<F>>, InferredOption | 'run'>

const { run: _, ...SHARED_RULES } = COMMON_RULES
const RULES: OptionRules<Omit<ToolOptions<undefined, undefined, unknown>, 'run'>> = {
  ...SHARED_RULES,
  parameters: anything,
  confirmationHint: textOrCallback,
}

/** The options of `tool()` for a function: what was inferred, and the explicit options. */
export function functionToolOptions(fn: AnyFunction, inferred: InferredFunction, explicit: unknown): JsonObject {
  if (explicit !== undefined && !isRecord(explicit))
    throw invalid(`tool(fn, options) takes an object of options, got ${kindOf(explicit)}.`)
  const called = fn.name === '' ? 'The function' : `Function "${fn.name}"`
  const given = explicit ?? {}
  if ('run' in given)
    throw invalid(
      `${called} is the body of the tool. Leave out the option run, or write tool({ name, description, run }).`,
    )
  // before the checks for missing options: an option may be there under a misspelled name
  checkOptions(`tool(${fn.name || 'fn'}, options)`, given, RULES)
  const { name = inferred.name, description = inferred.description, parameters = parametersOf(inferred) } = given
  if (name === undefined) throw invalid(`${called} has no name. Pass one: tool(fn, { name: 'get_weather' }).`)
  if (description === undefined)
    throw invalid(
      `${called} has no description, which tells the model what the tool does. Write a doc comment above it: /** Get the weather. */. Or pass one: tool(fn, { description: '...' }).`,
    )
  if (inferred.needsParameters && given.parameters === undefined)
    throw invalid(
      `${called} has no schema: its types were read for tool(fn, { parameters }), and here parameters is undefined. Pass a schema, or leave out the option so that the types are used.`,
    )
  return { ...boundOptions(given), name, description, parameters, run: createBody(fn, inferred.call) }
}

/** The inferred schema. A function without arguments has none, so that arguments which a model makes up are dropped. */
function parametersOf({ parameters, call }: InferredFunction): JsonObject | undefined {
  return call.every((parameter) => 'context' in parameter) ? undefined : parameters
}

/**
 * The explicit options as a plain object, with what a class instance inherits. Callbacks stay bound to the object they came from,
 * because its private members exist only there.
 */
function boundOptions(given: JsonObject): JsonObject {
  const options: JsonObject = {}
  for (const option of Object.keys(RULES)) {
    const value = given[option]
    const isSchema = option === 'parameters' || option === 'outputSchema' // a schema may be a function, such as one of ArkType
    if (value !== undefined) options[option] = typeof value === 'function' && !isSchema ? value.bind(given) : value
  }
  return options
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}

// What `toolwright/infer` reads from the types and doc comment of a function, and the table that holds it at run time.
import type { JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'

/** A parameter of a function: how the dispatcher fills it from the arguments of a call. */
export type InferredParameter =
  /** The parameter takes the argument of this name. With `rest`, the argument is a list and its items are passed one by one. */
  | { readonly argument: string; readonly rest?: true }
  /** The parameter takes the object of all arguments. */
  | { readonly allArguments: true }
  /** The parameter takes the context of the call. */
  | { readonly context: true }

/** A function as its source describes it. Plain JSON: `toolwright infer` writes it into a module. */
export interface InferredFunction {
  /** The name of the function. Absent for a function without a name: then `tool(fn, { name })` gives it one. */
  readonly name?: string
  /** The text of the doc comment, without its tags. Absent if there is none. */
  readonly description?: string
  /** The JSON Schema of the arguments. `x-toolwright-type` marks values that become a `Date` or a `Uint8Array`. */
  readonly parameters: JsonObject
  /** Only `tool(fn, { parameters })` has the schema: `parameters` of this description says nothing and is never used. */
  readonly needsParameters?: true
  /** The parameters, in the order of the function. */
  readonly call: readonly InferredParameter[]
  /** The JSON Schema of the result. Absent if the return type has none. */
  readonly response?: JsonObject
}

/** What to attach to a value: the description of a function, or those of the functions in a list, by their names. */
export type InferredShape = InferredFunction | readonly InferredFunction[]

/** What was read for a function, and the places that attached it. */
interface Known {
  readonly shape: InferredFunction
  readonly places: Set<string>
}

const TABLE: unique symbol = Symbol.for('toolwright.inferredFunctions.1')

/** On the global object: a bundler may put a copy of `toolwright/infer` into an app, and leave `toolwright` outside. */
const shared = globalThis as { [TABLE]?: WeakMap<object, Known> }
shared[TABLE] ??= new WeakMap()
const knownFunctions: WeakMap<object, Known> = shared[TABLE]

/**
 * Attaches what was inferred to a function, or to the functions of a list, and returns it. Code that `toolwright/infer` generates
 * calls this.
 *
 * @param place Where the function is used. A place may change its mind: watch modes run a file again after a change of a type.
 *
 * @example
 * attachInferred(getWeather, { name: 'getWeather', description: 'Get the weather', parameters: { type: 'object' }, call: [] })
 */
export function attachInferred<T>(value: T, shape: InferredShape, place?: string): T {
  if (isList(shape)) {
    if (Array.isArray(value)) attachByName(value, shape, place)
  } else if (typeof value === 'function') attach(value, shape, place)
  return value
}

/** Attaches to the functions of a list. Names decide, not positions: the list may have been sorted or extended since. */
function attachByName(value: unknown, shapes: readonly InferredFunction[], place: string | undefined): void {
  if (Array.isArray(value)) for (const item of value) attachByName(item, shapes, place)
  if (typeof value !== 'function') return
  const [shape, ...others] = shapes.filter(({ name }) => name === value.name)
  if (shape && others.length === 0) attach(value, shape, place)
}

function attach(fn: { readonly name: string }, shape: InferredFunction, place: string | undefined): void {
  const known = knownFunctions.get(fn)
  const isSame = known !== undefined && JSON.stringify(known.shape) === JSON.stringify(shape)
  const isUpdate = place !== undefined && known?.places.has(place) === true
  if (!known || known.shape.needsParameters || (isUpdate && !isSame))
    knownFunctions.set(fn, { shape, places: new Set(place === undefined ? [] : [place]) })
  else if (isSame) {
    if (place !== undefined) known.places.add(place)
  } else if (!shape.needsParameters) throw twoTypesError(fn) // with explicit parameters, the types do not matter
}

function twoTypesError({ name }: { readonly name: string }): ToolwrightError {
  return new ToolwrightError(
    'INVALID_CONFIG',
    `Function "${name}" was read with two different types, so it is not clear which one checks its arguments. If one comes from a generated module, run "toolwright infer" again. Else wrap the function in one of its own for the second type.`,
  )
}

/** Finds what was inferred for a function. */
export function inferredOf(fn: object): InferredFunction | undefined {
  return knownFunctions.get(fn)?.shape
}

function isList(shape: InferredShape): shape is readonly InferredFunction[] {
  return Array.isArray(shape)
}

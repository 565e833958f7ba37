// From values to the arguments of calls.
import { type JsonObject, setOwn } from '../../base/json.ts'
import type { Parameter } from './parameters.ts'

export type Values = ReadonlyMap<Parameter, unknown>

/** A parameter that a list was given for: one call for each further value. */
export interface Several {
  readonly parameter: Parameter
  readonly values: readonly unknown[]
}

/** The arguments of each call. */
export function callsWith(
  parameters: readonly Parameter[],
  values: Values,
  several: Several | undefined,
): JsonObject[] {
  const all = new Map(values)
  for (const parameter of parameters) {
    const given = parameter.isRequired && !values.has(parameter) ? givenFor(parameter) : undefined
    if (given !== undefined) all.set(parameter, given)
  }
  const others = several?.values.map((value) => new Map(all).set(several.parameter, value)) ?? []
  return [all, ...others].map((each) => argumentsOf(parameters, each))
}

/** What a call is not possible without. */
export function missingOf(parameters: readonly Parameter[], values: Values): Parameter[] {
  return parameters.filter(
    (parameter) => parameter.isRequired && !values.has(parameter) && givenFor(parameter) === undefined,
  )
}

/** What must be there and leaves no choice, or is a yes nobody said. */
function givenFor({ kind, choices }: Parameter): unknown {
  return kind === 'boolean' ? false : choices.length === 1 ? choices[0] : undefined
}

/** Values as the object the schema describes; an optional object that lacks a part it must have is left out. */
function argumentsOf(parameters: readonly Parameter[], values: Values): JsonObject {
  const args: JsonObject = {}
  for (const parameter of parameters) {
    if (!values.has(parameter) || lacksPart(parameter, parameters, values)) continue
    setOwn(holderOf(args, parameter.path), parameter.path.at(-1) ?? '', values.get(parameter))
  }
  return args
}

/** The object a path leads into, made where it is not there. */
function holderOf(args: JsonObject, path: readonly string[]): JsonObject {
  let at = args
  for (const key of path.slice(0, -1)) {
    if (!Object.hasOwn(at, key)) setOwn(at, key, {})
    at = Object.getOwnPropertyDescriptor(at, key)?.value as JsonObject // just made sure of
  }
  return at
}

function lacksPart({ path }: Parameter, parameters: readonly Parameter[], values: Values): boolean {
  if (path.length === 1) return false
  const isBeside = (other: Parameter): boolean =>
    other.path.length === path.length && path.slice(0, -1).every((key, at) => other.path[at] === key)
  return parameters.some((other) => other.isPart && !other.isRequired && !values.has(other) && isBeside(other))
}

import { isRecord } from '../../../core/base/json.ts'
import type { ToolContext } from '../../context/context.ts'
import type { InferredParameter } from './inferred-function.ts'
import type { AnyFunction } from './tool-function.ts'

/** Creates a body that calls a function with its parameters in order. What each one takes is decided here, not in each call. */
export function createBody(
  fn: AnyFunction,
  parameters: readonly InferredParameter[],
): (args: unknown, context: ToolContext) => unknown {
  // The cast is true: the arguments were checked against the schema of the parameters.
  const call = fn as (...args: unknown[]) => unknown
  if (parameters.some((parameter) => 'rest' in parameter))
    return (args, context) => call(...parameters.flatMap((parameter) => valuesOf(parameter, args, context)))
  const readers = parameters.map(readerOf)
  const [first, second] = readers
  if (!first) return () => call()
  if (!second) return (args, context) => call(first(args, context))
  if (readers.length === 2) return (args, context) => call(first(args, context), second(args, context))
  return (args, context) => call(...readers.map((read) => read(args, context)))
}

type Reader = (args: unknown, context: ToolContext) => unknown

function readerOf(parameter: InferredParameter): Reader {
  if ('context' in parameter) return (_args, context) => context
  if ('allArguments' in parameter) return (args) => args
  const { argument } = parameter
  return (args) => (isRecord(args) && Object.hasOwn(args, argument) ? args[argument] : undefined)
}

/** The values for a parameter: several for a rest parameter. */
function valuesOf(parameter: InferredParameter, args: unknown, context: ToolContext): unknown[] {
  const value = readerOf(parameter)(args, context)
  if (!('rest' in parameter)) return [value]
  return Array.isArray(value) ? value : []
}

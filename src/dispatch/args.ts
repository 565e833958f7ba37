// Arguments as they are recorded: JSON, no deeper and no larger than a log should hold.
import { type JsonObject, MAX_DEPTH, RESERVED_DEPTH } from '../base/json.ts'
import { toJsonValue } from '../base/to-json-value.ts'

/** Deeper arguments are refused. */
export const MAX_ARGS_DEPTH: number = MAX_DEPTH - RESERVED_DEPTH - 1

/** In place of arguments that were too large. A call with such arguments is refused, from a model and from code. */
const TRUNCATED = 'truncatedArgsBytes'

/**
 * A copy of the arguments as they can be stored: a model or callback may keep and change its own object. Dispatch
 * refuses those that had to be cut, and those that are no object: half a JSON text must not pass for none.
 */
export function storableArgs(args: unknown, maxBytes: number): JsonObject {
  if (args === undefined || args === null) return {}
  const plain = toJsonValue(args, maxBytes)
  return plain.bytes > maxBytes ? truncatedArgs(plain.bytes) : (plain.value as JsonObject)
}

/** What is recorded of arguments of so many bytes. */
export function truncatedArgs(bytes: number): JsonObject {
  return { [TRUNCATED]: bytes }
}

/** How large arguments were that are not in the log because of that; undefined when they are. */
export function truncatedBytes(args: JsonObject): number | undefined {
  const bytes = args[TRUNCATED]
  return typeof bytes === 'number' ? bytes : undefined
}

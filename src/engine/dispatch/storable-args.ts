// Arguments as they are recorded: JSON within the limits of depth and size.
import { type JsonObject, MAX_DEPTH, RESERVED_DEPTH } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'

/** The maximum depth of arguments. Deeper arguments are refused. */
export const MAX_ARGS_DEPTH: number = MAX_DEPTH - RESERVED_DEPTH - 1

/** The key that replaces arguments that are too large, with their size. Dispatch refuses a call with such arguments. */
export const TRUNCATED_BYTES = 'truncatedArgsBytes'

/**
 * Copies arguments for the log, because a model or callback may keep and change its own object. Dispatch refuses
 * arguments that are too large or are not an object: incomplete JSON text must not count as no arguments.
 */
export function storableArgs(args: unknown, maxBytes: number): JsonObject {
  if (args === undefined || args === null) return {}
  const plain = toJsonValue(args, maxBytes)
  return plain.bytes > maxBytes ? truncatedArgs(plain.bytes) : (plain.value as JsonObject)
}

/** The record of arguments that are too large. */
export function truncatedArgs(bytes: number): JsonObject {
  return { [TRUNCATED_BYTES]: bytes }
}

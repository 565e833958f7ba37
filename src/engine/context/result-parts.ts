import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { MAX_CONTENT_BYTES } from '../../core/base/limits.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { Part } from '../../core/content/content.ts'
import { ToolError } from '../../core/error/error.ts'

const PARTS: unique symbol = Symbol.for('toolwright.parts')

/**
 * Adds media to a result. The model gets `parts` as media, not as base64 text in the JSON of the response.
 *
 * @example
 * run: async () => withParts({ status: 'drawn' }, [{ inlineData: { mimeType: 'image/png', data } }])
 */
export function withParts<T extends object>(result: T, parts: readonly Part[]): T {
  return Object.defineProperty({ ...result }, PARTS, { value: parts })
}

/** Returns a copy of the media of a result, if it has any. Throws if it is larger than an event may be. */
export function partsOf(result: unknown): readonly Part[] | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  let parts: unknown
  try {
    parts = (result as JsonObject & { [PARTS]?: unknown })[PARTS]
  } catch {} // a proxy may throw: then the result has no media
  if (!Array.isArray(parts)) return undefined
  const { value, bytes } = toJsonValue(parts)
  if (bytes > MAX_CONTENT_BYTES) {
    throw new ToolError(
      `The parts of the result have ${bytes} bytes, at most ${MAX_CONTENT_BYTES} are allowed. Save them as artifacts.`,
    )
  }
  return (value as unknown[]).filter(isMedia) // the copy of an array is an array
}

/** Is the part text, data or a file? A tool must not add function calls or responses to the event. */
function isMedia(part: unknown): part is Part {
  if (!isRecord(part)) return false
  const { text, inlineData, fileData, functionCall, functionResponse, executableCode, codeExecutionResult } = part
  if (functionCall || functionResponse || executableCode || codeExecutionResult) return false
  return isRecord(inlineData) || isRecord(fileData) || (typeof text === 'string' && text !== '')
}

/** Adds the media of the original result to a changed one, unless the changed one has its own. */
export function keepParts(original: unknown, changed: unknown): unknown {
  const parts = partsOf(original)
  if (!parts || typeof changed !== 'object' || changed === null || partsOf(changed)) return changed
  return withParts(changed, parts)
}

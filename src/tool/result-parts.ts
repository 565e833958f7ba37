import { isRecord, type JsonObject } from '../base/json.ts'
import { MAX_CONTENT_BYTES } from '../base/limits.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import type { Part } from '../content/content.ts'
import { ToolError } from '../error/error.ts'

const PARTS: unique symbol = Symbol.for('toolwright.parts')

/**
 * A result with media: the model gets `parts` beside the response, not as base64 inside its JSON.
 *
 * @example
 * run: async () => withParts({ status: 'drawn' }, [{ inlineData: { mimeType: 'image/png', data } }])
 */
export function withParts<T extends object>(result: T, parts: readonly Part[]): T {
  return Object.defineProperty({ ...result }, PARTS, { value: parts })
}

/** The media of a result, if it has any: a copy. Throws when there is more than one event may hold. */
export function partsOf(result: unknown): readonly Part[] | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  let parts: unknown
  try {
    parts = (result as JsonObject & { [PARTS]?: unknown })[PARTS]
  } catch {} // a proxy that throws has no media
  if (!Array.isArray(parts)) return undefined
  const { value, bytes } = toJsonValue(parts)
  if (bytes > MAX_CONTENT_BYTES) {
    throw new ToolError(
      `The parts of the result have ${bytes} bytes, at most ${MAX_CONTENT_BYTES} are recorded. Save them as artifacts.`,
    )
  }
  return (value as unknown[]).filter(isMedia) // a JSON copy of parts is parts
}

/** Text, data or a file: a tool answers its own call only, and calls nobody. */
function isMedia(part: unknown): part is Part {
  if (!isRecord(part)) return false
  const { text, inlineData, fileData, functionCall, functionResponse, executableCode, codeExecutionResult } = part
  if (functionCall || functionResponse || executableCode || codeExecutionResult) return false
  return isRecord(inlineData) || isRecord(fileData) || (typeof text === 'string' && text !== '')
}

/** A changed result with the media of the original, unless it brings its own. */
export function keepParts(original: unknown, changed: unknown): unknown {
  const parts = partsOf(original)
  if (!parts || typeof changed !== 'object' || changed === null || partsOf(changed)) return changed
  return withParts(changed, parts)
}

// The part of a tool response that a model sees.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { FunctionResponse } from '../../../core/content/content.ts'

/** The response that a model sees. `modelOutput` is checked, because a stored response may have any shape. */
export function shownResponse({ response, modelOutput }: FunctionResponse): JsonObject {
  return isRecord(modelOutput?.response) ? modelOutput.response : response
}

/** Is the media after a response for the app only? */
export function hasHiddenMedia({ modelOutput }: FunctionResponse): boolean {
  return isRecord(modelOutput) && !modelOutput.showsMedia
}

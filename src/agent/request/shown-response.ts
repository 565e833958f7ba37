// The part of a tool response that a model sees.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { FunctionResponse, Part } from '../../content/content.ts'
import type { GroupCall } from './call-group.ts'

/** A response and its media under the id and name that the model sees. A partial result looks like a final one. */
export function shownParts({ id, name }: GroupCall, parts: readonly Part[]): readonly Part[] {
  const answer = parts[0]?.functionResponse
  if (!answer) return parts
  const { modelOutput } = answer
  if (answer.id === id && answer.name === name && answer.willContinue === undefined && modelOutput === undefined)
    return parts
  const { willContinue: _, modelOutput: __, ...response } = answer
  const functionResponse = { ...response, response: shownResponse(answer), id, name }
  return [{ functionResponse }, ...(hasHiddenMedia(answer) ? [] : parts.slice(1))]
}

/** The response that a model sees. `modelOutput` is checked, because a stored response may have any shape. */
export function shownResponse({ response, modelOutput }: FunctionResponse): JsonObject {
  return isRecord(modelOutput?.response) ? modelOutput.response : response
}

/** Is the media after a response for the app only? */
export function hasHiddenMedia({ modelOutput }: FunctionResponse): boolean {
  return isRecord(modelOutput) && !modelOutput.showsMedia
}

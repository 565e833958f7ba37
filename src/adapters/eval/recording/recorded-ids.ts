// The ids of calls in a replay. A model may not use ids that the framework has made, so a replayed reply has them with a prefix.
import type { Content, Part } from '../../../core/content/content.ts'
import { isOwnId, OWN_ID_PREFIX } from '../../../core/event/own-id.ts'

const REPLAYED = 'replayed-'

/** The content of a recorded reply with call ids that a model may use. */
export function withReplayedIds(content: Content): Content {
  return { ...content, parts: content.parts.map(withReplayedId) }
}

/** A call id, or a path with call ids, as the recording has it. */
export function toRecordedId(id: string): string {
  return id.replaceAll(REPLAYED + OWN_ID_PREFIX, OWN_ID_PREFIX)
}

/** JSON with the call ids of the recording. */
export function withRecordedIds<T>(value: T): T {
  return JSON.parse(toRecordedId(JSON.stringify(value)))
}

function withReplayedId(part: Part): Part {
  const { functionCall, executableCode, codeExecutionResult } = part
  return {
    ...part,
    ...(functionCall && { functionCall: rename(functionCall) }),
    ...(executableCode && { executableCode: rename(executableCode) }),
    ...(codeExecutionResult && { codeExecutionResult: rename(codeExecutionResult) }),
  }
}

function rename<T extends { readonly id?: string }>(given: T): T {
  return given.id !== undefined && isOwnId(given.id) ? { ...given, id: REPLAYED + given.id } : given
}

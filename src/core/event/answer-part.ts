import type { JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'
import type { PendingRequest } from './pending-request.ts'
import { REQUEST_NAMES } from './request-names.ts'

/** The part of a message that answers a request. */
export function answerPart({ id, kind, tool }: PendingRequest, response: JsonObject): Part {
  return { functionResponse: { id, name: kind === 'longRunning' ? tool : REQUEST_NAMES[kind], response } }
}

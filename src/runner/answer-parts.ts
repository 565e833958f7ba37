// How an answer is written.
import { isRecord, type JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { PendingRequest } from '../event/pending.ts'

/**
 * Says yes to a confirmation. `args` counts only where the tool allows edited arguments.
 *
 * @example
 * const [request] = await runner.pending({ userId: 'ada' })
 * await runner.complete({ userId: 'ada', sessionId: request.sessionId, message: [approve(request)] })
 */
export function approve(request: PendingRequest, options: { payload?: unknown; args?: JsonObject } = {}): Part {
  return answerTo(confirmation(request), { confirmed: true, ...options })
}

/** Says no to a confirmation; the model is told why. */
export function deny(request: PendingRequest, options: { reason?: string } = {}): Part {
  return answerTo(confirmation(request), { confirmed: false, ...options })
}

/** Answers a question of a tool, or gives the result of a long-running call. */
export function respond(request: PendingRequest, value: unknown): Part {
  return answerTo(request, isRecord(value) ? value : { result: value ?? null })
}

function confirmation(request: PendingRequest): PendingRequest {
  if (request.kind === 'confirmation') return request
  throw new ToolwrightError('INVALID_REQUEST', `Request "${request.id}" is no confirmation: use respond().`)
}

function answerTo({ id, kind, tool }: PendingRequest, response: JsonObject): Part {
  return { functionResponse: { id, name: kind === 'longRunning' ? tool : `adk_request_${kind}`, response } }
}

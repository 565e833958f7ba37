// The parts that answer pending requests. The public functions of `engine/runner/approvals/answer-parts.ts` check what callers pass;
// the page of the workbench answers requests that its server sent, and needs no checks.
import { isRecord, type JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'
import type { PendingRequest } from './pending-request.ts'
import { REQUEST_NAMES } from './request-names.ts'

/** Approves a confirmation. */
export function approvalOf(request: PendingRequest, options: { payload?: unknown; args?: JsonObject } = {}): Part {
  return answerTo(request, { ...options, confirmed: true })
}

/** Denies a confirmation, or declines another request. */
export function denialOf(request: PendingRequest, options: { reason?: string } = {}): Part {
  return answerTo(request, {
    ...options,
    ...(request.kind === 'confirmation' ? { confirmed: false } : { declined: true }),
  })
}

/** Answers a request with a value or a result. */
export function responseTo(request: PendingRequest, value: unknown): Part {
  return answerTo(request, isRecord(value) && request.kind !== 'input' ? value : { result: value ?? null })
}

function answerTo({ id, kind, tool }: PendingRequest, response: JsonObject): Part {
  return { functionResponse: { id, name: kind === 'longRunning' ? tool : REQUEST_NAMES[kind], response } }
}

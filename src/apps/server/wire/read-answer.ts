import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { approve, deny, respond } from '../../../engine/runner/approvals/answer-parts.ts'
import { invalid } from './fields.ts'

/**
 * Reads the answer to a pending request. It is stricter than ADK's message form, where anything but `confirmed: true` denies: a person
 * may misspell a member. Throws INVALID_REQUEST.
 */
export function readAnswer(request: PendingRequest, body: unknown): Part {
  if (!isRecord(body)) throw invalid(`The answer must be an object, got ${kindOf(body)}. ${FORMS[request.kind]}`)
  switch (request.kind) {
    case 'confirmation':
      return readDecision(request, body)
    case 'input':
      if (!Object.hasOwn(body, 'result')) return readDecline(request, body)
      checkMembers(request, body, ['result'])
      return respond(request, body.result)
    case 'credential':
      return Object.hasOwn(body, 'declined') ? readDecline(request, body) : respond(request, body)
    case 'longRunning':
      if (Object.hasOwn(body, 'confirmed') || Object.hasOwn(body, 'declined'))
        throw invalid(`The call waits for its result, and this is a decision. ${FORMS.longRunning}`)
      return respond(request, body)
  }
}

/**
 * The answer to a request that is not pending, as the client sent it: the runner says that it was answered, has expired or does not
 * exist, or gives the same events again for the same answer.
 */
export function repeatedAnswer(id: string, body: unknown): Part {
  if (!isRecord(body)) throw invalid(`The answer must be an object, got ${kindOf(body)}.`)
  return { functionResponse: { id, name: 'answer', response: body } }
}

/** What to send, by the kind of the request. */
const FORMS: Readonly<Record<PendingRequest['kind'], string>> = {
  confirmation: 'Send {"confirmed": true}, with "args" for edited arguments, or {"confirmed": false, "reason": "..."}.',
  input: 'Send {"result": ...}, or {"declined": true} to decline.',
  credential: 'Send {"authResponseUri": "..."}, or {"declined": true} to decline.',
  longRunning: 'Send the result as an object, such as {"result": ...}.',
}

function readDecision(request: PendingRequest, body: JsonObject): Part {
  const { confirmed, args, payload, reason } = body
  if (typeof confirmed !== 'boolean') {
    const got = confirmed === undefined ? 'nothing' : kindOf(confirmed)
    throw invalid(`confirmed must be true or false, got ${got}. ${FORMS.confirmation}`)
  }
  checkMembers(request, body, confirmed ? ['confirmed', 'args', 'payload'] : ['confirmed', 'reason'])
  if (!confirmed) return deny(request, reasonIn(reason))
  if (args !== undefined && !isRecord(args)) throw invalid(`args must be an object, got ${kindOf(args)}.`)
  return approve(request, { ...(args && { args }), ...(payload !== undefined && { payload }) })
}

function readDecline(request: PendingRequest, body: JsonObject): Part {
  if (body.declined !== true)
    throw invalid(`The answer has neither a value nor "declined": true. ${FORMS[request.kind]}`)
  checkMembers(request, body, ['declined', 'reason'])
  return deny(request, reasonIn(body.reason))
}

function reasonIn(reason: unknown): { reason?: string } {
  if (reason === undefined) return {}
  if (typeof reason !== 'string') throw invalid(`reason must be a string, got ${kindOf(reason)}.`)
  return { reason }
}

function checkMembers({ kind }: PendingRequest, body: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(body).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw invalid(`The answer has an unknown member ${JSON.stringify(unknown)}. ${FORMS[kind]}`)
}

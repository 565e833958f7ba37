// Functions that create the answer to a pending request.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { Part } from '../../../core/content/content.ts'
import { anything, checkOptions, record, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { approvalOf, denialOf, responseTo } from '../../../core/event/write-answer.ts'

/**
 * Approves a confirmation. `payload` is passed to the tool. `args` replaces the arguments of the call, and is accepted only
 * for an `editable` request.
 *
 * @example
 * const [request] = await runner.pending({ userId: 'ada' })
 * await runner.complete({ userId: 'ada', sessionId: request.sessionId, message: [approve(request)] })
 */
export function approve(request: PendingRequest, options: { payload?: unknown; args?: JsonObject } = {}): Part {
  checkRequest('approve()', request)
  if (request.kind !== 'confirmation') throw requestError(request, 'is not a confirmation. Use respond()')
  checkOptions('approve()', options, APPROVE_RULES, 'INVALID_REQUEST')
  return approvalOf(request, options)
}

/**
 * Denies a confirmation, or declines a request for input or a credential. The model sees the `reason`.
 *
 * @example
 * await runner.complete({ userId, sessionId, message: [deny(request, { reason: 'Too expensive.' })] })
 */
export function deny(request: PendingRequest, options: { reason?: string } = {}): Part {
  checkRequest('deny()', request)
  checkOptions('deny()', options, DENY_RULES, 'INVALID_REQUEST')
  if (request.kind !== 'longRunning') return denialOf(request, options)
  throw requestError(
    request,
    'cannot be denied: it waits for a result. Use respond(), or end its invocation with runner.cancel()',
  )
}

/**
 * Answers a request for input, sends the callback URL of a consent (`{ authResponseUri }`), or sends the result of a
 * long-running call.
 *
 * @example
 * await runner.complete({ userId, sessionId, message: [respond(request, { shippedAt: '2030-01-01' })] })
 */
export function respond(request: PendingRequest, value: unknown): Part {
  checkRequest('respond()', request)
  if (request.kind === 'confirmation' && !(isRecord(value) && typeof value.confirmed === 'boolean')) {
    throw requestError(request, 'is a confirmation. Use approve() or deny()')
  }
  return responseTo(request, value)
}

const APPROVE_RULES = { payload: anything, args: record }
const DENY_RULES = { reason: text }

/**
 * Throws if the value is not a pending request. JavaScript callers may pass anything, such as the `undefined` of an
 * empty list of requests.
 */
function checkRequest(method: string, request: unknown): void {
  if (isRecord(request) && typeof request.id === 'string' && request.id !== '' && KINDS.has(request.kind)) return
  const problem = `${method} takes a pending request with its id, got ${kindOf(request)}`
  throw new ToolwrightError('INVALID_REQUEST', `${problem}. runner.pending() lists the open requests.`)
}

const KINDS: ReadonlySet<unknown> = new Set<PendingRequest['kind']>([
  'confirmation',
  'credential',
  'input',
  'longRunning',
])

function requestError({ id }: PendingRequest, problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `Request "${id}" ${problem}.`)
}

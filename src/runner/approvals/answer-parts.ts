// How an answer is written.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { kindOf } from '../../base/kind-of.ts'
import type { Part } from '../../content/content.ts'
import { anything, checkOptions, record, text } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { PendingRequest } from '../../event/pending.ts'
import { REQUEST_NAMES } from '../../event/request-names.ts'

/**
 * Says yes to a confirmation. `args` is for requests that are `editable`: elsewhere it is refused.
 *
 * @example
 * const [request] = await runner.pending({ userId: 'ada' })
 * await runner.complete({ userId: 'ada', sessionId: request.sessionId, message: [approve(request)] })
 */
export function approve(request: PendingRequest, options: { payload?: unknown; args?: JsonObject } = {}): Part {
  checkRequest('approve()', request)
  if (request.kind !== 'confirmation') throw unfit(request, 'is no confirmation: use respond()')
  checkOptions('approve()', options, APPROVE_RULES, 'INVALID_REQUEST')
  return answerTo(request, { ...options, confirmed: true })
}

/** Says no to a confirmation, or to a question of a tool; the model is told why. */
export function deny(request: PendingRequest, options: { reason?: string } = {}): Part {
  checkRequest('deny()', request)
  checkOptions('deny()', options, DENY_RULES, 'INVALID_REQUEST')
  if (request.kind === 'confirmation') return answerTo(request, { ...options, confirmed: false })
  if (request.kind === 'input') return answerTo(request, { ...options, declined: true })
  throw unfit(request, 'waits for a result: use respond(), or end its run with runner.cancel()')
}

/** Answers a question of a tool, or gives the result of a long-running call. */
export function respond(request: PendingRequest, value: unknown): Part {
  checkRequest('respond()', request)
  if (request.kind === 'input') return answerTo(request, { result: value ?? null })
  if (request.kind === 'confirmation' && !(isRecord(value) && typeof value.confirmed === 'boolean')) {
    throw unfit(request, 'is a confirmation: use approve() or deny()')
  }
  return answerTo(request, isRecord(value) ? value : { result: value ?? null })
}

const APPROVE_RULES = { payload: anything, args: record }
const DENY_RULES = { reason: text }

/** JavaScript callers may pass anything, such as the `undefined` of an empty list of requests. */
function checkRequest(what: string, request: unknown): void {
  if (isRecord(request) && typeof request.id === 'string' && request.id !== '' && KINDS.has(request.kind)) return
  const problem = `${what} takes a pending request with its id, got ${kindOf(request)}`
  throw new ToolwrightError('INVALID_REQUEST', `${problem}. runner.pending() lists the requests that are open.`)
}

const KINDS: ReadonlySet<unknown> = new Set<PendingRequest['kind']>([
  'confirmation',
  'credential',
  'input',
  'longRunning',
])

function unfit({ id }: PendingRequest, why: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `Request "${id}" ${why}.`)
}

function answerTo({ id, kind, tool }: PendingRequest, response: JsonObject): Part {
  return { functionResponse: { id, name: kind === 'longRunning' ? tool : REQUEST_NAMES[kind], response } }
}

// Which principals may answer a pending request. Default: every principal that may use its session.
import { isRecord } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { decisionOf } from '../../../core/event/decision.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { ServerParts } from '../env.ts'
import type { MayAnswer, Principal } from '../principal/principal.ts'

/** The session of a message, and who sends it. */
interface AnswerScope {
  readonly runner: Runner
  readonly userId: string
  readonly sessionId: string
  readonly principal: Principal
}

/**
 * The message, whose answers name the requests that were checked. Throws FORBIDDEN if it answers a request that the option `mayAnswer`
 * keeps from its sender. With the option, only pending requests can be answered: an answer that is sent again is NOT_FOUND.
 */
export async function allowedAnswers(
  { options: { mayAnswer }, logger }: Pick<ServerParts, 'options' | 'logger'>,
  { runner, userId, sessionId, principal }: AnswerScope,
  message: readonly Part[],
): Promise<readonly Part[]> {
  if (!mayAnswer || !message.some(({ functionResponse }) => functionResponse)) return message
  const pending = await runner.pending({ userId, sessionId })
  const checked = new Set<string>()
  const allowed: Part[] = []
  for (const part of message) {
    const { functionResponse: answer } = part
    const request = answer && findRequest(pending, answer.id)
    if (request && checked.has(request.id)) throw answeredTwice(request)
    if (request) checked.add(request.id)
    for (const asked of request ? askedAbout(request, answer.response) : [])
      if (!(await isAllowed(mayAnswer, asked, principal, logger))) throw forbidden(asked)
    // by the id of its call, the answer could reach the next request of the call, which the rule has not seen
    allowed.push(request ? { ...part, functionResponse: { ...answer, id: request.id } } : part)
  }
  return allowed
}

function findRequest(pending: readonly PendingRequest[], id: string | undefined): PendingRequest {
  const request = pending.find((one) => one.id === id) ?? pending.find((one) => one.functionCallId === id)
  if (request) return request
  throw new ToolwrightError('NOT_FOUND', `No pending request has the id "${id}". runner.pending() lists them.`)
}

/** The request, and the same with the arguments that the approver wants to run instead: a rule may depend on them. */
function askedAbout(request: PendingRequest, response: unknown): PendingRequest[] {
  if (request.kind !== 'confirmation') return [request]
  const { args } = decisionOf(isRecord(response) ? response : { result: response ?? null })
  const { hint: _, ...withoutHint } = request // it is about the arguments of the model
  return args ? [request, { ...withoutHint, args }] : [request]
}

function forbidden({ id, tool }: PendingRequest): ToolwrightError {
  return new ToolwrightError('FORBIDDEN', `You may not answer request "${id}" of tool "${tool}".`)
}

function answeredTwice({ id }: PendingRequest): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `Request "${id}" is answered twice in one message. Answer it once.`)
}

/** A rule that throws, or returns anything but true, does not allow the answer. It gets a copy, so that it changes neither. */
async function isAllowed(
  mayAnswer: MayAnswer,
  request: PendingRequest,
  principal: Principal,
  logger: ServerParts['logger'],
): Promise<boolean> {
  try {
    return (await mayAnswer(structuredClone(request), principal)) === true
  } catch (error) {
    logger.error(`The option mayAnswer failed for request "${request.id}": ${messageOf(error)}`, error)
    return false
  }
}

// Which principals may answer a pending request. Default: every principal that may use its session.
import type { Part } from '../../content/content.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { PendingRequest } from '../../event/pending-request.ts'
import type { Runner } from '../../runner/runner.ts'
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
 * Throws FORBIDDEN if the message answers a request that the option `mayAnswer` keeps from its sender. With the option, only pending
 * requests can be answered: an answer that is sent again is NOT_FOUND.
 */
export async function checkMayAnswer(
  { options: { mayAnswer }, logger }: Pick<ServerParts, 'options' | 'logger'>,
  { runner, userId, sessionId, principal }: AnswerScope,
  message: readonly Part[],
): Promise<void> {
  const ids = message.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.id] : []))
  if (!mayAnswer || ids.length === 0) return
  const pending = await runner.pending({ userId, sessionId })
  for (const id of ids) {
    const request = pending.find((one) => one.id === id) ?? pending.find((one) => one.functionCallId === id)
    if (!request)
      throw new ToolwrightError('NOT_FOUND', `No pending request has the id "${id}". runner.pending() lists them.`)
    if (!(await isAllowed(mayAnswer, request, principal, logger)))
      throw new ToolwrightError('FORBIDDEN', `You may not answer request "${request.id}" of tool "${request.tool}".`)
  }
}

/** A rule that throws, or returns anything but true, does not allow the answer. */
async function isAllowed(
  mayAnswer: MayAnswer,
  request: PendingRequest,
  principal: Principal,
  logger: ServerParts['logger'],
): Promise<boolean> {
  try {
    return (await mayAnswer(request, principal)) === true
  } catch (error) {
    logger.error(`The option mayAnswer failed for request "${request.id}": ${messageOf(error)}`, error)
    return false
  }
}

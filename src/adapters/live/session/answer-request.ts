import { isRecord } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { REQUEST_NAMES } from '../../../core/event/request-names.ts'
import { deny } from '../../../engine/runner/approvals/answer-parts.ts'
import { confirmationFor } from '../../../engine/runner/approvals/answer-with-providers.ts'
import { type ConfirmationOptions, confirmationAnswer } from '../../../engine/runner/approvals/confirmation-provider.ts'
import type { RunData } from '../../../engine/runner/run/run-data.ts'

/** Who answers requests, and how answers are recorded. */
export interface AnswerOptions extends ConfirmationOptions {
  /** The run of the session. Its tools may bring a provider, which comes before that of the session. */
  readonly run: RunData
  /** Records an answer, after the checks that all answers pass. */
  answer(part: Part): Promise<void>
}

/** Throws INVALID_REQUEST unless there are answers, and nothing else. A text, for example, would start another run. */
export function checkAnswers(answers: readonly Part[]): void {
  const wrong = answers.find((answer) => !isRecord(answer) || !isRecord(answer.functionResponse))
  if (answers.length > 0 && wrong === undefined) return
  const takes = 'answer() takes approve(request), deny(request) or respond(request, value)'
  throw new ToolwrightError('INVALID_REQUEST', `${takes}, got ${answers.length === 0 ? 'nothing' : kindOf(wrong)}.`)
}

/** Adds what to do to the error of an app that approves a request which its session, for lack of a provider, has denied. */
export function adviseProvider(error: unknown, answers: readonly Part[]): unknown {
  if (!(error instanceof ToolwrightError) || error.code !== 'ALREADY_ANSWERED') return error
  if (!answers.some(({ functionResponse }) => functionResponse?.name === REQUEST_NAMES.confirmation)) return error
  const advice =
    'The session has no confirmationProvider, so that it refuses gated calls at once. To answer them with session.answer(), pass confirmationProvider: answerLater of "toolwright/live".'
  return new ToolwrightError('ALREADY_ANSWERED', `${error.message} ${advice}`, { cause: error })
}

/** Asks the provider about a confirmation and records its answer. An answer that cannot be recorded denies. Never rejects. */
export async function answerRequest(
  request: PendingRequest,
  signal: AbortSignal,
  options: AnswerOptions,
): Promise<void> {
  const { answer, report, run, confirmationProvider, allowUnconfirmed } = options
  const problem = `The answer to request "${request.id}" was not recorded`
  try {
    const ofTool = confirmationFor(run, request)
    const given = await confirmationAnswer(request, signal, {
      confirmationProvider: ofTool?.confirmationProvider ?? confirmationProvider,
      allowUnconfirmed: ofTool?.allowUnconfirmed || allowUnconfirmed,
      report,
    })
    if (given) await answer(given)
  } catch (error) {
    if (signal.aborted) return // answered otherwise
    report(`${problem}, so the call was denied`, error)
    await answer(deny(request, { reason: 'The confirmation failed.' })).catch((failed) => report(problem, failed))
  }
}

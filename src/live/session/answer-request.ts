import type { Part } from '../../content/content.ts'
import type { PendingRequest } from '../../event/pending-request.ts'
import { deny } from '../../runner/approvals/answer-parts.ts'
import { type ConfirmationOptions, confirmationAnswer } from '../../runner/approvals/confirmation-provider.ts'

/** Who answers requests, and how answers are recorded. */
export interface AnswerOptions extends ConfirmationOptions {
  /** Records an answer, after the checks that all answers pass. */
  answer(part: Part): Promise<void>
}

/** Asks the provider about a confirmation and records its answer. An answer that cannot be recorded denies. Never rejects. */
export async function answerRequest(
  request: PendingRequest,
  signal: AbortSignal,
  options: AnswerOptions,
): Promise<void> {
  const { answer, report } = options
  const problem = `The answer to request "${request.id}" was not recorded`
  try {
    const given = await confirmationAnswer(request, signal, options)
    if (given) await answer(given)
  } catch (error) {
    if (signal.aborted) return // answered otherwise
    report(`${problem}, so the call was denied`, error)
    await answer(deny(request, { reason: 'The confirmation failed.' })).catch((failed) => report(problem, failed))
  }
}

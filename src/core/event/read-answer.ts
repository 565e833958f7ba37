import type { JsonObject } from '../base/json.ts'
import { consentIn, decisionOf, declinedIn, inputOf } from './decision.ts'
import type { RequestRecord } from './event.ts'

/** What an answer to a request means. */
export type AnswerMeaning =
  | { readonly type: 'approved'; readonly args?: JsonObject; readonly payload?: unknown; readonly reason?: string }
  | { readonly type: 'denied'; readonly reason?: string }
  | { readonly type: 'answered'; readonly value: unknown }
  | { readonly type: 'declined'; readonly reason?: string }
  | { readonly type: 'authorized' }
  | { readonly type: 'failed'; readonly reason?: string }
  | { readonly type: 'expired'; readonly reason?: string }

/** Says what a recorded answer means, in every shape that clients send and old logs have. */
export function readAnswer(kind: RequestRecord['kind'], answer: JsonObject): AnswerMeaning {
  if (kind === 'confirmation') {
    const { confirmed, ...decision } = decisionOf(answer)
    return confirmed ? { type: 'approved', ...decision } : { type: 'denied', ...withReason(decision.reason) }
  }
  const declined = declinedIn(answer)
  if (declined) return { type: 'declined', ...withReason(declined.reason) }
  if (kind === 'input') return { type: 'answered', value: inputOf(answer) }
  const { status = 'failed', error } = consentIn(answer) ?? {}
  return status === 'authorized' ? { type: status } : { type: status, ...withReason(error) }
}

/** Does the answer let the call run? */
export function isGranted({ type }: AnswerMeaning): boolean {
  return type === 'approved' || type === 'answered' || type === 'authorized'
}

/** An answer in a few words: `approved`, `approved with changes`, `denied: too expensive`. */
export function describeAnswer(meaning: AnswerMeaning): string {
  if (meaning.type === 'approved' && meaning.args) return 'approved with changes'
  const reason = 'reason' in meaning && meaning.type !== 'approved' ? meaning.reason : undefined
  return reason ? `${meaning.type}: ${reason}` : meaning.type
}

function withReason(reason: string | undefined): { reason?: string } {
  return reason ? { reason } : {}
}

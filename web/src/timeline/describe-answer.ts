import type { JsonObject } from '../../../src/base/json.ts'
import { consentIn, decisionOf, declinedIn } from '../../../src/event/decision.ts'
import type { Request } from '../../../src/event/event.ts'

/** A recorded answer in a few words: `approved`, `approved with changes`, `denied: too expensive`. */
export function describeAnswer(kind: Request['kind'], answer: JsonObject): string {
  switch (kind) {
    case 'confirmation': {
      const { confirmed, args, reason } = decisionOf(answer)
      if (confirmed) return args ? 'approved with changes' : 'approved'
      return reason ? `denied: ${reason}` : 'denied'
    }
    case 'credential':
      return consentIn(answer)?.status ?? 'answered'
    case 'input': {
      const declined = declinedIn(answer)
      if (!declined) return 'answered'
      return declined.reason ? `declined: ${declined.reason}` : 'declined'
    }
  }
}

/** Does the answer keep the body of its call from running? */
export function isDenied(kind: Request['kind'], answer: JsonObject): boolean {
  if (kind === 'confirmation') return !decisionOf(answer).confirmed
  return kind === 'credential' ? consentIn(answer)?.status !== 'authorized' : declinedIn(answer) !== undefined
}

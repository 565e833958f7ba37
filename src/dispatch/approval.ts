// Whether an approval still counts: it is bound to the tool definition and the arguments the approver saw.
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { CallState, RequestState } from '../event/call-state.ts'
import { decisionOf } from '../event/decision.ts'
import type { Request } from '../event/event.ts'

/** The call as it would run now. */
export interface CurrentCall {
  /** Digest of the tool definition. */
  readonly definition: string
  readonly args?: JsonObject
}

/** Why the approval of a request no longer counts; undefined when it does. `approved`: the arguments the approver sent. */
export function whyLapsed(
  request: Request,
  { definition, args }: CurrentCall,
  approved: JsonObject | null = request.args,
): 'definition' | 'args' | undefined {
  if (request.definition !== definition) return 'definition'
  if (args && (!approved || canonicalJson(approved) !== canonicalJson(args))) return 'args'
  return undefined
}

/** Was this request made by the body, and approved? */
function isBodyApproval({ request, answer }: RequestState): boolean {
  return (
    request.kind === 'confirmation' && request.origin === 'body' && answer !== undefined && decisionOf(answer).confirmed
  )
}

/** The requests of a call without approvals of its body that lapsed. The gate checks its own approval in `confirm`. */
export function countingRequests(
  { requests }: Pick<CallState, 'requests'>,
  definition: string,
  args?: JsonObject,
): readonly RequestState[] {
  const current = args ? { definition, args } : { definition }
  return requests.filter((asked) => !isBodyApproval(asked) || !whyLapsed(asked.request, current))
}

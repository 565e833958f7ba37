// Checks whether an approval is still valid: it is bound to the tool definition and the arguments the approver saw.
import { canonicalJson, type JsonObject } from '../base/json.ts'
import type { CallState, RequestState } from '../event/call-state.ts'
import { decisionOf } from '../event/decision.ts'
import type { Request } from '../event/event.ts'

/** The call as it would run now. */
export interface CurrentCall {
  /** Digest of the tool definition. */
  readonly definition: string
  /** The arguments of the call; left out when only the definition is compared. */
  readonly args?: JsonObject
}

/** Why the approval of a request is no longer valid; undefined when it is. `approved`: the arguments the approver sent. */
export function whyLapsed(
  request: Request,
  { definition, args }: CurrentCall,
  approved: JsonObject | null = request.args,
): 'definition' | 'args' | undefined {
  if (request.definition !== definition) return 'definition'
  if (args && (!approved || canonicalJson(approved) !== canonicalJson(args))) return 'args'
  return undefined
}

/** Is it an approved request of the body? */
function isBodyApproval({ request, answer }: RequestState): boolean {
  return (
    request.kind === 'confirmation' && request.origin === 'body' && answer !== undefined && decisionOf(answer).confirmed
  )
}

/** The requests of a call, without lapsed approvals of its body. `confirm` checks the approval of the gate. */
export function countingRequests(
  { requests }: Pick<CallState, 'requests'>,
  definition: string,
  args?: JsonObject,
): readonly RequestState[] {
  const current = args ? { definition, args } : { definition }
  return requests.filter((one) => !isBodyApproval(one) || !whyLapsed(one.request, current))
}

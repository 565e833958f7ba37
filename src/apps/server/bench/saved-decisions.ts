import type { JsonObject } from '../../../core/base/json.ts'
import type { CallView } from '../../../core/event/views/views.ts'

/** What a person decided about a call, as a confirmation provider returns it. */
export interface SavedDecision {
  /** Was the call approved? */
  readonly confirmed: boolean
  /** The data of the approver for the body. */
  readonly payload?: unknown
  /** The arguments that the approver sent instead. */
  readonly args?: JsonObject
  /** Why the call was denied. Empty if the approver gave no reason: without it, the dispatcher names one. */
  readonly hint?: string
}

/** The decisions about a call, in order. */
export function decisionsOf({ requests }: Pick<CallView, 'requests'>): SavedDecision[] {
  return requests.flatMap(({ kind, answer }): SavedDecision[] => {
    if (kind !== 'confirmation' || !answer) return []
    if (answer.type !== 'approved') return [{ confirmed: false, hint: ('reason' in answer && answer.reason) || '' }]
    const { args, payload } = answer
    return [{ confirmed: true, ...(payload !== undefined && { payload }), ...(args && { args }) }]
  })
}

/** The arguments to repeat a call with. What an approver sent instead is in the decision, what a callback changed is not. */
export function argsToRepeat(call: Pick<CallView, 'args' | 'changedArgs' | 'requests'>): JsonObject {
  const isEdited = decisionsOf(call).some(({ args }) => args !== undefined)
  return isEdited ? call.args : (call.changedArgs ?? call.args)
}

// The gates before a body: confirmation, then credential. Both check the arguments the body will get.
import type { ToolConfirmation } from '../content/content.ts'
import { decisionOf, declinedIn } from '../event/decision.ts'
import { openRequests } from '../event/fold.ts'
import { countingRequests } from './approval.ts'
import { authorize } from './authorize.ts'
import { confirm, plainArgs, rejected } from './confirm.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import type { Prepared, ReadyCall } from './outcome.ts'

/** Checks the answers to requests of the body, then both gates. Called only for calls with a gate or a request. */
export async function passGates(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const answered = ready.call.requests.length ? await checkBodyRequests(ready) : undefined
  if (answered?.type === 'stopped') return answered.outcome
  const confirmed = await confirm(batch, ready)
  if (confirmed.type !== 'ready') return confirmed
  const passed = confirmed.entry.tool.authConfig ? authorize(confirmed) : confirmed
  if (answered?.confirmation && passed.type === 'ready') passed.context.setConfirmation(answered.confirmation)
  return passed
}

type BodyAnswers =
  | { readonly type: 'stopped'; readonly outcome: Prepared }
  | { readonly type: 'answered'; readonly confirmation: ToolConfirmation | undefined }

/** A denial ends the call. An open request suspends it. An approval becomes `toolConfirmation` of the body's context. */
async function checkBodyRequests({ call, context, entry, args }: ReadyCall): Promise<BodyAnswers> {
  if (openRequests(call).length > 0) return { type: 'stopped', outcome: { type: 'suspended', call } }
  context.setRequests(countingRequests(context, await definitionOf(entry), plainArgs(args)))
  let confirmation: ToolConfirmation | undefined
  for (const { request, answer, denied } of context.requests) {
    if (request.origin !== 'body') continue
    if (denied !== undefined) return { type: 'stopped', outcome: rejected(call, denied) }
    if (answer === undefined) continue
    const declined = request.kind === 'input' ? declinedIn(answer) : undefined
    if (declined) return { type: 'stopped', outcome: rejected(call, declined.reason) }
    if (request.kind !== 'confirmation') continue
    const { confirmed, payload, reason } = decisionOf(answer)
    if (!confirmed) return { type: 'stopped', outcome: rejected(call, reason) }
    confirmation = { hint: request.hint ?? '', confirmed, ...(payload !== undefined && { payload }) }
  }
  return { type: 'answered', confirmation }
}

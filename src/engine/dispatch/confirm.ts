// The confirmation gate: a call that needs an approval does not run without one. An approval is bound to the tool
// definition and the arguments the approver saw.
import { canonicalJson, copyJson, isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { ToolConfirmation } from '../../core/content/content.ts'
import { consentIn, decisionOf, declinedIn, hintIn } from '../../core/event/decision.ts'
import type { RequestRecord } from '../../core/event/event.ts'
import { type CallState, openRequests, type RequestState } from '../../core/event/invocation-state.ts'
import type { SessionKey } from '../../services/session/service.ts'
import type { Tool } from '../tool/tool.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import { type CallResult, failure, type Prepared, type ReadyCall, unknownOutcome } from './outcome.ts'
import { hintOf, needsConfirmation, requestConfirmation } from './request-confirmation.ts'

/** How many confirmations are requested for one call when its approvals lapse. */
const MAX_REQUESTS = 2

/** Returns the call when it may run. Else returns a new request, a suspended call, or the response to a denied call. */
export async function confirm(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const { call, entry } = ready
  const requests = call.requests.filter(isGateRequest)
  const latest = requests.at(-1)
  if (!latest && !(await needsConfirmation(batch, ready))) return ready
  const definition = await definitionOf(batch, entry)
  const args = plainArgs(ready.args)
  if (!latest) return await requestConfirmation(batch, ready, { definition, args })
  if (latest.denied !== undefined) return rejected(call, latest.denied)
  if (latest.answer === undefined) return { type: 'suspended', call }
  const decision = decisionOf(latest.answer)
  if (!decision.confirmed) return rejected(call, decision.reason)
  const { request } = latest
  const approved = await approvedArgs(ready, latest)
  const lapsed = whyLapsed(request, { definition, args, session: batch.host }, approved ?? null)
  if (lapsed === 'definition') {
    const dropped = decision.args && !entry.tool.allowEditedArgs ? 'It no longer accepts edited arguments. ' : ''
    const notice = `The tool has changed since the last request (DEFINITION_CHANGED). ${dropped}`
    return requests.length < MAX_REQUESTS
      ? await requestConfirmation(batch, ready, { definition, args, notice })
      : definitionChanged(call)
  }
  if (lapsed !== undefined) {
    const { notice, reason } = LAPSED[lapsed]
    if (requests.length < MAX_REQUESTS) return await requestConfirmation(batch, ready, { definition, args, notice })
    return failure(call, 'CANCELLED', notRun(call, reason))
  }
  const { payload } = decision
  ready.context.setConfirmation({
    hint: decision.args ? await editedHint(batch, ready, latest) : (request.hint ?? ''),
    confirmed: true,
    ...(payload !== undefined && { payload }),
  })
  return ready
}

/** What the approver and the model read about an approval that does not count. */
const LAPSED = {
  args: {
    notice: 'The arguments differ from the approved arguments. ',
    reason: 'its arguments differ from the approved arguments',
  },
  session: {
    notice: 'The last approval was given in another session. ',
    reason: 'its approval was given in another session',
  },
}

/** What the approver of edited arguments was asked: recorded with the answer, except by earlier versions. */
async function editedHint(batch: Batch, ready: ReadyCall, { request, answer = {} }: RequestState): Promise<string> {
  const recorded = hintIn(answer)
  return recorded === undefined || recorded === request.hint ? await hintOf(batch, ready) : recorded
}

/** The response to a call whose request was denied or has expired. */
export function rejected(call: CallState, reason: string | undefined): CallResult {
  const why = `tool call was rejected by the user${reason ? `: ${reason}` : ''}`
  if (!call.wasInterrupted) return { ...failure(call, 'CANCELLED', why), denied: true }
  const before = `Tool "${call.name}" was interrupted and may have taken effect. It was not run again`
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', `${before}: ${why}`)
}

function definitionChanged(call: CallState): CallResult {
  return failure(call, 'DEFINITION_CHANGED', notRun(call, 'its definition has changed since the request'))
}

function notRun({ name }: CallState, reason: string): string {
  return `Tool "${name}" was not run: ${reason}. Call it again to request a new approval.`
}

/** What the answers to requests of a body decide. */
type BodyAnswers =
  | { readonly type: 'stopped'; readonly outcome: Prepared }
  | { readonly type: 'answered'; readonly confirmation: ToolConfirmation | undefined }

/**
 * Checks the answers to requests of the body. A denial ends the call. An open request suspends it. An approval
 * becomes `toolConfirmation` of the body's context.
 */
export async function checkBodyRequests(batch: Batch, ready: ReadyCall): Promise<BodyAnswers> {
  const { call, context, entry, args } = ready
  if (openRequests(call).length > 0) return { type: 'stopped', outcome: { type: 'suspended', call } }
  const current = { definition: await definitionOf(batch, entry), args: plainArgs(args), session: batch.host }
  context.setRequests(countingRequests(context, current))
  let confirmation: ToolConfirmation | undefined
  for (const { request, answer, denied } of context.requests) {
    if (request.origin !== 'body') continue
    if (denied !== undefined) return { type: 'stopped', outcome: rejected(call, denied) }
    if (answer === undefined) continue
    const declined = request.kind === 'confirmation' ? undefined : declinedIn(answer)
    if (declined && !request.mayDecline) return { type: 'stopped', outcome: rejected(call, declined.reason) }
    const consent = request.kind === 'credential' ? consentIn(answer) : undefined
    if (consent?.status === 'failed') {
      const problem = `Tool "${call.name}" was not run again: ${consent.error ?? 'the consent failed'}`
      return { type: 'stopped', outcome: failure(call, 'AUTH_FAILED', problem) }
    }
    if (request.kind !== 'confirmation') continue
    const { confirmed, payload, reason } = decisionOf(answer)
    if (!confirmed) return { type: 'stopped', outcome: rejected(call, reason) }
    confirmation = { hint: request.hint ?? '', confirmed, ...(payload !== undefined && { payload }) }
  }
  return { type: 'answered', confirmation }
}

/** The call as it would run now. */
interface CurrentCall {
  /** The session of the call. */
  readonly session: SessionKey
  /** Digest of the tool definition. */
  readonly definition: string
  /** The arguments of the call; left out when only the definition is compared. */
  readonly args?: JsonObject
}

/** Why the approval of a request is no longer valid; undefined when it is. `approved`: the arguments the approver sent. */
function whyLapsed(
  request: RequestRecord,
  { definition, args, session }: CurrentCall,
  approved: JsonObject | null = request.args,
): 'definition' | 'args' | 'session' | undefined {
  if (!isOfSession(request, session)) return 'session'
  if (request.definition !== definition) return 'definition'
  if (args && (!approved || canonicalJson(approved) !== canonicalJson(args))) return 'args'
  return undefined
}

/** Was the request made in this session? A log can be copied byte for byte; requests of earlier versions name no session. */
function isOfSession({ session }: RequestRecord, { appName, userId, sessionId }: SessionKey): boolean {
  if (!session) return true
  return session.appName === appName && session.userId === userId && session.sessionId === sessionId
}

/** Is it an approved request of the body? */
function isBodyApproval({ request, answer }: RequestState): boolean {
  return (
    request.kind === 'confirmation' && request.origin === 'body' && answer !== undefined && decisionOf(answer).confirmed
  )
}

/** The requests of a call, without lapsed approvals of its body and input of other sessions. `confirm` checks the approval of the gate. */
export function countingRequests(
  { requests }: Pick<CallState, 'requests'>,
  current: CurrentCall,
): readonly RequestState[] {
  return requests.filter((one) => {
    if (isBodyApproval(one)) return whyLapsed(one.request, current) === undefined
    return one.request.kind !== 'input' || isOfSession(one.request, current.session)
  })
}

function isGateRequest({ request }: RequestState): boolean {
  return request.kind === 'confirmation' && request.origin === 'gate'
}

/** The arguments the approver sent instead of the model's, if the tool allows it. They are validated like the model's. */
export function editedArgs({ requests }: CallState, { allowEditedArgs }: Tool): JsonObject | undefined {
  if (requests.length === 0 || !allowEditedArgs) return undefined
  for (const one of requests.toReversed()) {
    const { confirmed, args } = one.answer && isGateRequest(one) ? decisionOf(one.answer) : NO_DECISION
    if (confirmed && args) return args
  }
  return undefined
}

const NO_DECISION = { confirmed: false, args: undefined }

/** The arguments the approver saw, or sent instead; undefined when edited arguments are no longer valid. */
async function approvedArgs({ entry }: ReadyCall, { request, answer }: RequestState): Promise<JsonObject | undefined> {
  const { args } = decisionOf(answer ?? {})
  if (!args) return request.args
  const parsed = await entry.parse(copyJson(args))
  return parsed.issues ? undefined : plainArgs(parsed.value)
}

/** Arguments as JSON, for the log. The arguments of the body may hold other values, such as dates. */
export function plainArgs(args: unknown): JsonObject {
  const { value } = toJsonValue(args)
  return isRecord(value) ? value : { value }
}

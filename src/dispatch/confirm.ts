// The confirmation gate: a call that needs an approval does not run without one.
import { copyJson, isRecord, type JsonObject } from '../base/json.ts'
import { clip } from '../base/limits.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { messageOf } from '../error/error.ts'
import type { CallState, RequestState } from '../event/call-state.ts'
import { decisionOf } from '../event/decision.ts'
import { isPlainJson } from '../policy/plain-json.ts'
import { readonlyContext } from '../tool/readonly-context.ts'
import type { Tool } from '../tool/tool.ts'
import { whyLapsed } from './approval.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import {
  type CallResult,
  failure,
  type NewRequest,
  type Prepared,
  type ReadyCall,
  type RequestingCall,
  unknownOutcome,
} from './outcome.ts'
import { gateOf } from './resolve.ts'

/** How many confirmations are requested for one call when its approvals lapse. */
const MAX_REQUESTS = 2

/** How long `requiresConfirmation` may take, in milliseconds. After it, the call needs a confirmation. */
const PREDICATE_MS = 5_000

/** Returns the call when it may run. Else returns a new request, a suspended call, or the response to a denied call. */
export async function confirm(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const { call, entry } = ready
  const requests = call.requests.filter(isGateRequest)
  const latest = requests.at(-1)
  if (!latest && !(await needsConfirmation(batch, ready))) return ready
  const definition = await definitionOf(entry)
  const args = plainArgs(ready.args)
  if (!latest) return await requestConfirmation(batch, ready, definition)
  if (latest.denied !== undefined) return rejected(call, latest.denied)
  if (latest.answer === undefined) return { type: 'suspended', call }
  const decision = decisionOf(latest.answer)
  if (!decision.confirmed) return rejected(call, decision.reason)
  const { request } = latest
  const approved = await approvedArgs(ready, latest)
  const lapsed = whyLapsed(request, { definition, args }, approved ?? null)
  if (lapsed === 'definition') {
    const dropped = decision.args && !entry.tool.allowEditedArgs ? 'It no longer accepts edited arguments. ' : ''
    const notice = `The tool has changed since the last request (DEFINITION_CHANGED). ${dropped}`
    return requests.length < MAX_REQUESTS
      ? await requestConfirmation(batch, ready, definition, notice)
      : definitionChanged(call)
  }
  if (lapsed === 'args') {
    const notice = 'The arguments differ from the approved arguments. '
    if (requests.length < MAX_REQUESTS) return await requestConfirmation(batch, ready, definition, notice)
    return failure(call, 'CANCELLED', notRun(call, 'its arguments differ from the approved arguments'))
  }
  const { payload } = decision
  ready.context.setConfirmation({
    hint: request.hint ?? '',
    confirmed: true,
    ...(payload !== undefined && { payload }),
  })
  return ready
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

async function requestConfirmation(
  batch: Batch,
  ready: ReadyCall,
  definition: string,
  notice = '',
): Promise<RequestingCall> {
  const { call, entry, args } = ready
  const { allowEditedArgs } = entry.tool
  const schema = allowEditedArgs ? entry.declaration?.parametersJsonSchema : undefined
  const request: NewRequest = {
    kind: 'confirmation',
    origin: 'gate',
    args: plainArgs(args),
    definition,
    hint: notice + (await hintOf(batch, ready)),
    ...(allowEditedArgs && { editable: true }),
    ...(isRecord(schema) && { schema }),
  }
  return { type: 'requesting', call, requests: [request] }
}

async function hintOf({ host }: Batch, ready: ReadyCall): Promise<string> {
  const { tool } = ready.entry
  try {
    const hint: unknown = tool.confirmationHint?.((await ownCopy(ready)) as JsonObject)
    if (typeof hint === 'string' && hint !== '') return clip(hint)
    if (hint instanceof Promise) hint.catch(() => {}) // hints are synchronous: a promise is ignored
  } catch (error) {
    const problem = `confirmationHint of tool "${tool.name}" failed: ${messageOf(error)}. The default hint is used.`
    host.services.logger.warn(problem, error)
  }
  return `Approve execution of tool \`${tool.name}\`?`
}

/** The response to a call whose request was denied or has expired. */
export function rejected(call: CallState, reason: string | undefined): CallResult {
  const why = `tool call was rejected by the user${reason ? `: ${reason}` : ''}`
  if (!call.wasInterrupted) return failure(call, 'CANCELLED', why)
  const before = `Tool "${call.name}" was interrupted and may have taken effect. It was not run again`
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', `${before}: ${why}`)
}

function definitionChanged(call: CallState): CallResult {
  return failure(call, 'DEFINITION_CHANGED', notRun(call, 'its definition has changed since the request'))
}

function notRun({ name }: CallState, reason: string): string {
  return `Tool "${name}" was not run: ${reason}. Call it again to request a new approval.`
}

/** Arguments as JSON, for the log. The arguments of the body may hold other values, such as dates. */
export function plainArgs(args: unknown): JsonObject {
  const { value } = toJsonValue(args)
  return isRecord(value) ? value : { value }
}

/** Only `false` opens the gate: a predicate that throws, hangs or returns another value requires a confirmation. */
async function needsConfirmation(batch: Batch, ready: ReadyCall): Promise<boolean> {
  const { host, agentName, scope } = batch
  const { tool } = ready.entry
  const requiresConfirmation = gateOf(ready.entry)
  if (typeof requiresConfirmation !== 'function') return Boolean(requiresConfirmation)
  try {
    const given = (await ownCopy(ready)) as JsonObject
    const context = readonlyContext(host, agentName, scope.branch)
    const answer = Promise.resolve(requiresConfirmation.call(tool, given, context))
    return (await withTimeout(answer, PREDICATE_MS, host.services.ports, () => undefined)) !== false
  } catch {
    return true
  }
}

/** A copy of the arguments. Values a schema created (dates, maps) cannot be copied, so the arguments are parsed again. */
async function ownCopy({ call, entry, args, rewritten }: ReadyCall): Promise<unknown> {
  if (isPlainJson(args)) return copyJson(args)
  const parsed = await entry.parse(copyJson(rewritten ?? call.args))
  return parsed.issues ? {} : parsed.value
}

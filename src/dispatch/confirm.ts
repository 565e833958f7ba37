// The confirmation gate: a call that needs a human's yes does not run without one.

import { copyJson, isRecord, type JsonObject } from '../base/json.ts'
import { clip } from '../base/limits.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { messageOf } from '../error/error.ts'
import type { CallState, RequestState } from '../event/call-state.ts'
import { decisionOf } from '../event/decision.ts'
import { isPlainJson } from '../policy/plain-json.ts'
import { readonlyContext } from '../tool/invocation.ts'
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

/** How often a call is asked about whose arguments are not those that were approved. */
const MAX_REQUESTS = 2

/** How long a predicate may think: then the call is asked about. */
const PREDICATE_MS = 5_000

/** The call as it may go on, or why it may not: nobody was asked yet, nobody has answered, or the answer was no. */
export async function confirm(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const { call, entry } = ready
  const asked = call.requests.filter(isGateRequest)
  const latest = asked.at(-1)
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
    const dropped = decision.args && !entry.tool.allowEditedArgs ? 'It no longer takes edited arguments. ' : ''
    const before = `The tool has changed since it was asked about (DEFINITION_CHANGED). ${dropped}`
    return asked.length < MAX_REQUESTS
      ? await requestConfirmation(batch, ready, definition, before)
      : definitionChanged(call)
  }
  if (lapsed === 'args') {
    const before = 'The arguments are not those that were approved. '
    if (asked.length < MAX_REQUESTS) return await requestConfirmation(batch, ready, definition, before)
    return failure(call, 'CANCELLED', `${call.name} was not run: its arguments are not those that were approved.`)
  }
  const { payload } = decision
  ready.context.confirmedWith({ hint: request.hint ?? '', confirmed: true, ...(payload !== undefined && { payload }) })
  return ready
}

function isGateRequest({ request }: RequestState): boolean {
  return request.kind === 'confirmation' && request.origin === 'gate'
}

/** What the approver wrote in place of the model's arguments, where the tool allows that. It goes the same road. */
export function editedArgs({ requests }: CallState, { allowEditedArgs }: Tool): JsonObject | undefined {
  if (requests.length === 0 || !allowEditedArgs) return undefined
  for (const asked of requests.toReversed()) {
    const { confirmed, args } = asked.answer && isGateRequest(asked) ? decisionOf(asked.answer) : NO_DECISION
    if (confirmed && args) return args
  }
  return undefined
}

const NO_DECISION = { confirmed: false, args: undefined }

/** The arguments that were shown, or those the approver sent instead; undefined when the latter are no longer valid. */
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
  before = '',
): Promise<RequestingCall> {
  const { call, entry, args } = ready
  const { allowEditedArgs } = entry.tool
  const schema = allowEditedArgs ? entry.declaration?.parametersJsonSchema : undefined
  const asked: NewRequest = {
    kind: 'confirmation',
    origin: 'gate',
    args: plainArgs(args),
    definition,
    hint: before + (await hintOf(batch, ready)),
    ...(allowEditedArgs && { editable: true }),
    ...(isRecord(schema) && { schema }),
  }
  return { type: 'requesting', call, requests: [asked] }
}

async function hintOf({ host }: Batch, ready: ReadyCall): Promise<string> {
  const { tool } = ready.entry
  try {
    const hint: unknown = tool.confirmationHint?.((await ownCopy(ready)) as JsonObject)
    if (typeof hint === 'string' && hint !== '') return clip(hint)
    if (hint instanceof Promise) hint.catch(() => {}) // a hint is not waited for
  } catch (error) {
    host.services.logger.warn(`confirmationHint of ${tool.name} failed: ${messageOf(error)}`, error) // no reason not to ask
  }
  return `Approve execution of tool \`${tool.name}\`?`
}

/** Said of a call that a human refused, by word or by silence. */
export function rejected(call: CallState, reason: string | undefined): CallResult {
  const why = `tool call was rejected by the user${reason ? `: ${reason}` : ''}`
  if (!call.wasInterrupted) return failure(call, 'CANCELLED', why)
  const before = `${call.name} was interrupted before and may have taken effect`
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', `${before}. It was not run again: ${why}`)
}

function definitionChanged(call: CallState): CallResult {
  return failure(call, 'DEFINITION_CHANGED', `${call.name} is no longer the tool that was asked about; it was not run.`)
}

/** As they are recorded: what the body gets may be more than JSON. */
export function plainArgs(args: unknown): JsonObject {
  const { value } = toJsonValue(args)
  return isRecord(value) ? value : { value }
}

/** Anything but a clear `false` means yes: a predicate that throws, hangs or answers nonsense must not open the gate. */
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

/** What a schema made of the arguments (dates, maps) cannot be copied, but made again. */
async function ownCopy({ call, entry, args, rewritten }: ReadyCall): Promise<unknown> {
  if (isPlainJson(args)) return copyJson(args)
  const parsed = await entry.parse(copyJson(rewritten ?? call.args))
  return parsed.issues ? {} : parsed.value
}

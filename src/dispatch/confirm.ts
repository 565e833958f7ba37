// The confirmation gate: a call that needs a human's yes does not run without one.
import { canonicalJson, copyJson, isRecord, type JsonObject } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'
import { decisionOf } from '../event/decision.ts'
import type { CallState } from '../event/fold.ts'
import { isPlainJson, isPlainObject } from '../policy/plain.ts'
import { describeIssues } from '../schema/parsed.ts'
import { readonlyContext } from '../tool/invocation.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import { type Asked, failure, type Prepared, type Ready, type Result } from './outcome.ts'

/** How often a call is asked about whose arguments are not those that were approved. */
const MAX_QUESTIONS = 2

/** The call as it may go on, or why it may not: nobody was asked yet, nobody has answered, or the answer was no. */
export async function confirm(batch: Batch, ready: Ready): Promise<Prepared> {
  const { call, entry } = ready
  const asked = call.requests.filter(({ request }) => request.kind === 'confirmation' && request.origin === 'gate')
  const latest = asked.at(-1)
  // asked again: what it says may have changed while the call waited
  if (!latest && !(await needsConfirmation(batch, ready))) return ready
  const definition = await definitionOf(entry)
  const args = plainArgs(ready.args)
  if (!latest) return question(ready, args, definition, hintOf(ready, args))
  if (latest.denied !== undefined) return rejected(call, latest.denied)
  if (latest.answer === undefined) return { type: 'suspended', call }
  const decision = decisionOf(latest.answer)
  if (!decision.confirmed) return rejected(call, decision.reason)
  const { request } = latest
  if (request.definition !== definition) {
    const hint = `The tool has changed since it was asked about (DEFINITION_CHANGED). ${hintOf(ready, args)}`
    return asked.length < MAX_QUESTIONS ? question(ready, args, definition, hint) : changed(call)
  }
  const approved = decision.args && entry.tool.allowEditedArgs ? await edited(ready, decision.args) : ready
  if (approved.type !== 'ready') return approved
  if (approved === ready && canonicalJson(request.args) !== canonicalJson(args)) {
    const hint = `The arguments are not those that were approved. ${hintOf(ready, args)}`
    if (asked.length < MAX_QUESTIONS) return question(ready, args, definition, hint)
    return failure(call, 'CANCELLED', `${call.name} was not run: its arguments are not those that were approved.`)
  }
  const { payload } = decision
  approved.context.confirmedWith({
    hint: request.hint ?? '',
    confirmed: true,
    ...(payload !== undefined && { payload }),
  })
  return approved
}

function question({ call }: Ready, args: JsonObject, definition: string, hint: string): Asked {
  return { type: 'asked', call, questions: [{ kind: 'confirmation', origin: 'gate', args, definition, hint }] }
}

function hintOf({ entry: { tool } }: Ready, args: JsonObject): string {
  try {
    const hint: unknown = tool.confirmationHint?.(copyJson(args))
    if (typeof hint === 'string' && hint !== '') return hint
  } catch {} // a hint that fails is no reason not to ask
  return `Approve execution of tool \`${tool.name}\`?`
}

/** Arguments of the approver's own are checked like the model's. */
async function edited(ready: Ready, args: JsonObject): Promise<Prepared> {
  const { call, entry } = ready
  const parsed = await entry.parse(copyJson(args))
  if (!parsed.issues) return { ...ready, args: parsed.value, rewritten: args }
  const problem = describeIssues(parsed.issues)
  return failure(call, 'INVALID_ARGS', `The arguments of whoever approved ${call.name} are invalid: ${problem}`)
}

/** Said of a call that a human refused, by word or by silence. */
export function rejected(call: CallState, reason: string | undefined): Result {
  const why = reason ? `: ${reason}` : ''
  return failure(call, 'CANCELLED', `tool call was rejected by the user${why}`)
}

function changed(call: CallState): Result {
  return failure(call, 'DEFINITION_CHANGED', `${call.name} is no longer the tool that was asked about; it was not run.`)
}

/** As they are recorded: what the body gets may be more than JSON. */
function plainArgs(args: unknown): JsonObject {
  const { value } = toPlain(args)
  return isRecord(value) ? value : { value }
}

/** Anything but a clear `false` means yes: a predicate that throws or answers nonsense must not open the gate. */
async function needsConfirmation({ host, agentName, scope }: Batch, { entry, args }: Ready): Promise<boolean> {
  const { requiresConfirmation } = entry.tool
  if (typeof requiresConfirmation !== 'function') return Boolean(requiresConfirmation)
  try {
    const given = ownCopy(args) as JsonObject
    const context = readonlyContext(host, agentName, scope.branch)
    return (await requiresConfirmation.call(entry.tool, given, context)) !== false
  } catch {
    return true
  }
}

/** As deep as it can be: what a schema made of the arguments (dates, maps) may be more than JSON. */
function ownCopy(args: unknown): unknown {
  if (isPlainJson(args)) return copyJson(args)
  return isRecord(args) && isPlainObject(args) ? { ...args } : args
}

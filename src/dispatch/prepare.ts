// Checks one call and takes it through the gates, up to the point where its body may run.
import { canonicalJson, copyJson, isRecord, type JsonObject, MAX_DEPTH, ROOM_ABOVE } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'
import { messageOf } from '../error/error.ts'
import { decisionOf } from '../event/decision.ts'
import { type CallState, openRequests } from '../event/fold.ts'
import { describeIssues, type Parsed } from '../schema/parsed.ts'
import { CallContext } from '../tool/call-context.ts'
import { authorize } from './authorize.ts'
import { confirm, rejected } from './confirm.ts'
import { recoverAttempt } from './effects.ts'
import type { Batch } from './host.ts'
import { type Begun, failure, type Prepared, type Ready } from './outcome.ts'
import { type ToolEntry, unknownTool } from './resolve.ts'

/** Deeper arguments are refused. */
export const MAX_ARGS_DEPTH: number = MAX_DEPTH - ROOM_ABOVE - 1

/** How often an equal call may fail in a row before it is no longer run. */
export const MAX_EQUAL_FAILURES = 3

export function prepare(batch: Batch, call: CallState): Prepared | Promise<Prepared> {
  const entry = batch.entryOf(call)
  const failed = batch.host.fold.failedInARow(call)
  if (failed >= MAX_EQUAL_FAILURES && !entry?.tool.mayRepeat) {
    const error = `The same call has failed ${failed} times in a row and is not run again.`
    return { ...failure(call, 'REPEATED_CALL', error), stops: true }
  }
  if (!entry?.declaration) {
    const error = call.isCode ? `Nobody runs code for ${batch.agentName}.` : unknownTool(batch.table, call.name)
    return failure(call, 'NOT_FOUND', error)
  }
  const begun = { call, entry, context: contextOf(batch, call, entry) }
  if (batch.hasBegun(entry.tool, call)) return { type: 'ready', ...begun, args: call.args, rewritten: undefined }
  if (!isRecord(call.args)) {
    return failure(call, 'INVALID_ARGS', `Invalid arguments for ${call.name}: they are no JSON object`)
  }
  if (call.intent) return recoverAttempt(begun, (args, rewritten) => validate(batch, begun, args, rewritten, gates))
  return validate(batch, begun, call.args, false, batch.hooks.beforeTool.length ? askCallbacks : gates)
}

function contextOf(batch: Batch, call: CallState, { tool }: ToolEntry): CallContext {
  return new CallContext({
    host: batch.host,
    tool,
    agentName: batch.agentName,
    branch: batch.scope.branch,
    functionCallId: call.id,
    requests: call.requests,
    onProgress: batch.onProgress,
  })
}

type Step = (batch: Batch, ready: Ready) => Prepared | Promise<Prepared>

/** The body, the callbacks and the gates get a copy of their own: nobody below can reach the log. */
function validate(
  batch: Batch,
  begun: Begun,
  args: unknown,
  rewritten: boolean,
  then: Step,
): Prepared | Promise<Prepared> {
  try {
    const parsed = begun.entry.parse(copyJson(args, MAX_DEPTH - MAX_ARGS_DEPTH))
    const kept = rewritten ? (toPlain(args).value as JsonObject) : undefined // before anybody changes them
    if (parsed instanceof Promise) {
      return parsed.then(
        (value) => checked(batch, begun, value, kept, then),
        (error) => invalid(begun, error),
      )
    }
    return checked(batch, begun, parsed, kept, then)
  } catch (error) {
    return invalid(begun, error)
  }
}

function checked(
  batch: Batch,
  { call, entry, context }: Begun,
  parsed: Parsed,
  rewritten: JsonObject | undefined,
  then: Step,
): Prepared | Promise<Prepared> {
  if (!parsed.issues) return then(batch, { type: 'ready', call, entry, args: parsed.value, context, rewritten })
  return failure(call, 'INVALID_ARGS', `Invalid arguments for ${call.name}: ${describeIssues(parsed.issues)}`)
}

/** A validator that throws has not accepted anything; its words may hold values, so they are not repeated. */
function invalid({ call }: Begun, error: unknown): Prepared {
  const why = error instanceof RangeError ? error.message : 'they could not be checked'
  return failure(call, 'INVALID_ARGS', `Invalid arguments for ${call.name}: ${why}`)
}

/** Callbacks see the arguments as they were sent, so that what they give back can be checked like them. */
async function askCallbacks(batch: Batch, ready: Ready): Promise<Prepared> {
  const { call, entry, context } = ready
  let args: unknown = call.args
  let rewritten = false
  for (const beforeTool of batch.hooks.beforeTool) {
    const offered: JsonObject = isRecord(args) ? copyJson(args) : { value: args }
    const answer = await settled(() => beforeTool({ tool: entry.tool, args: offered, context }))
    if ('error' in answer) return failure(call, 'EXECUTION_FAILED', messageOf(answer.error))
    const said: JsonObject = isRecord(answer.value) ? answer.value : {}
    if (Object.hasOwn(said, 'result')) {
      return { type: 'answered', call, entry, args: ready.args, context, value: said.result }
    }
    // changed in place counts like given back
    if (Object.hasOwn(said, 'args')) args = said.args
    else if (canonicalJson(offered) !== canonicalJson(args)) args = offered
    else continue
    rewritten = true
  }
  return rewritten ? validate(batch, ready, args, true, gates) : gates(batch, ready)
}

/** Confirmation before credentials, both on the arguments the body will get. */
function gates(batch: Batch, ready: Ready): Prepared | Promise<Prepared> {
  const { tool } = ready.entry
  const { requests } = ready.call
  if (!tool.requiresConfirmation && !tool.authConfig && requests.length === 0) return ready
  return requests.length ? answered(batch, ready) : passGates(batch, ready)
}

/** What the body itself asked: a no ends the call, an open question keeps it waiting. */
function answered(batch: Batch, ready: Ready): Prepared | Promise<Prepared> {
  const { call, context } = ready
  if (openRequests(call).length > 0) return { type: 'suspended', call }
  for (const { request, answer, denied } of call.requests) {
    if (request.origin !== 'body') continue
    if (denied !== undefined) return rejected(call, denied)
    if (request.kind !== 'confirmation' || answer === undefined) continue
    const { confirmed, payload, reason } = decisionOf(answer)
    if (!confirmed) return rejected(call, reason)
    context.confirmedWith({ hint: request.hint ?? '', confirmed, ...(payload !== undefined && { payload }) })
  }
  return passGates(batch, ready)
}

async function passGates(batch: Batch, ready: Ready): Promise<Prepared> {
  const confirmed = await confirm(batch, ready)
  return confirmed.type === 'ready' ? await authorize(batch, confirmed) : confirmed
}

async function settled<T>(ask: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await ask() }
  } catch (error) {
    return { error }
  }
}

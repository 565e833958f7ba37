// Checks one call and takes it through the gates, up to the point where its body may run.
import { canonicalJson, copyJson, isRecord, type JsonObject, MAX_DEPTH, TooDeepError } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import { messageOf } from '../error/error.ts'
import { type CallState, NOT_RUN, type RequestState } from '../event/call-state.ts'
import { describeIssues, type Parsed } from '../schema/issues.ts'
import { CallContext } from '../tool/call-context.ts'
import { countingRequests } from './approval.ts'
import { MAX_ARGS_DEPTH, storableArgs, truncatedBytes } from './args.ts'
import { editedArgs } from './confirm.ts'
import { definitionOf } from './definition.ts'
import { recoverInterrupted } from './effects.ts'
import { passGates } from './gates.ts'
import type { Batch } from './host.ts'
import { missingTool, refuseCall } from './on-tool-error.ts'
import { failure, type Prepared, type ReadyCall, type ResolvedCall } from './outcome.ts'
import { requestsFromBody } from './request-records.ts'
import { entryFor, type ToolEntry, unknownTool } from './resolve.ts'
import { Timeout, waitFor } from './wait.ts'

/** How often an equal call may fail in a row before it is no longer run. */
export const MAX_EQUAL_FAILURES = 3

export function prepare(batch: Batch, call: CallState): Prepared | Promise<Prepared> {
  const entry = entryFor(batch, call)
  if (
    call.at >= batch.host.services.maxCallsPerReply &&
    call.requests.length === 0 &&
    !wasAttempted(batch, call, entry)
  ) {
    return overCallLimit(batch, call)
  }
  const failed = batch.host.fold.failedInARow(call)
  if (failed >= MAX_EQUAL_FAILURES && !entry?.tool.mayRepeat && !wasAttempted(batch, call, entry)) {
    const error = `The same call has failed ${failed} times in a row and is not run again.`
    return { ...failure(call, 'REPEATED_CALL', error), stops: true }
  }
  if (!entry || entry.isPassive) {
    if (call.isCode) return failure(call, 'NOT_FOUND', `Nobody runs code for ${batch.agentName}.`)
    const known = entry ?? missingTool(call.name)
    const begun = { call, entry: known, context: contextOf(batch, call, known, call.requests) }
    return refuseCall(batch, begun, call.args, 'NOT_FOUND', unknownTool(batch.table, call.name))
  }
  if (call.requests.length === 0) return prepareResolved(batch, call, entry, call.requests)
  return definitionOf(entry).then((definition) =>
    prepareResolved(batch, call, entry, countingRequests(call, definition)),
  )
}

/** A call that began before a restart is answered by what became of it, whatever the limits are now. */
function wasAttempted(batch: Batch, call: CallState, entry: ToolEntry | undefined): boolean {
  return call.intent || (entry?.kind === 'agent' && batch.hasStarted(call))
}

/** A call beyond the limit of its reply. */
function overCallLimit({ host, scope }: Batch, call: CallState): Prepared {
  const made = host.fold.scopes.get(scope.path)?.calls.length
  const problem = `The reply has ${made} calls, at most ${host.services.maxCallsPerReply} of one reply are run`
  const error = `${problem}. This one was not run: make it in a later reply.`
  return { type: 'result', call, response: { status: NOT_RUN, error, errorCode: 'CANCELLED' } }
}

function prepareResolved(
  batch: Batch,
  call: CallState,
  entry: ToolEntry,
  requests: readonly RequestState[],
): Prepared | Promise<Prepared> {
  const begun = { call, entry, context: contextOf(batch, call, entry, requests) }
  if (entry.kind === 'agent' && batch.hasStarted(call))
    return { type: 'ready', ...begun, args: call.args, rewritten: undefined }
  if (!isRecord(call.args)) {
    const problem = `Invalid arguments for ${call.name}: they are no JSON object`
    return refuseCall(batch, begun, call.args, 'INVALID_ARGS', problem)
  }
  const tooLarge = truncatedBytes(call.args)
  if (tooLarge !== undefined)
    return refuseCall(batch, begun, call.args, 'INVALID_ARGS', argsTooLarge(batch, call, tooLarge))
  if (call.intent)
    return recoverInterrupted(batch, begun, (args, rewritten) => validate(batch, begun, args, rewritten, gates))
  const edited = requests.length ? editedArgs(call, entry.tool) : undefined
  const step = batch.hooks.beforeTool.length ? callBeforeTool : gates
  const prepared = validate(batch, begun, edited ?? call.args, edited !== undefined, step)
  return edited ? withInvalidEdit(prepared, edited) : prepared
}

function argsTooLarge({ host }: Batch, { name }: CallState, bytes: number): string {
  const problem =
    bytes > host.services.maxArgsBytes
      ? `they have ${bytes} bytes, at most ${host.services.maxArgsBytes} are allowed. Send less, or in several calls`
      : 'the calls of this code have too many bytes of arguments together. Send less'
  return `Invalid arguments for ${name}: ${problem}.`
}

/** A mistake that was not the model's is not told as if it were. */
async function withInvalidEdit(preparing: Prepared | Promise<Prepared>, edited: JsonObject): Promise<Prepared> {
  const prepared = await preparing
  if (prepared.type !== 'result' || prepared.response.errorCode !== 'INVALID_ARGS') return prepared
  return { ...prepared, response: { ...prepared.response, editedArgs: edited } }
}

function contextOf(batch: Batch, call: CallState, { tool }: ToolEntry, requests: readonly RequestState[]): CallContext {
  return new CallContext({
    host: batch.host,
    tool,
    agentName: batch.agentName,
    branch: batch.scope.branch,
    functionCallId: call.id,
    requests,
    onProgress: batch.onProgress,
  })
}

type Step = (batch: Batch, ready: ReadyCall) => Prepared | Promise<Prepared>

/** The body, the callbacks and the gates get a copy of their own: nobody below can reach the log. */
function validate(
  batch: Batch,
  begun: ResolvedCall,
  args: unknown,
  rewritten: boolean,
  then: Step,
): Prepared | Promise<Prepared> {
  try {
    const parsed = begun.entry.parse(copyJson(args, MAX_DEPTH - MAX_ARGS_DEPTH))
    const kept = rewritten ? storableArgs(toJsonValue(args).value, batch.host.services.maxArgsBytes) : undefined // before a callback changes them
    const tooLarge = kept && truncatedBytes(kept)
    if (tooLarge !== undefined)
      return refuseCall(batch, begun, kept, 'INVALID_ARGS', argsTooLarge(batch, begun.call, tooLarge))
    // a tool's own parse may give any promise; what is neither that nor a verdict has accepted nothing
    if ('then' in parsed) {
      return parseArgsInTime(batch, begun, parsed).then(
        (value) => applyParsed(batch, begun, args, value, kept, then),
        (error) => {
          if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
          return refuseUnchecked(batch, begun, args, error)
        },
      )
    }
    return applyParsed(batch, begun, args, parsed, kept, then)
  } catch (error) {
    return refuseUnchecked(batch, begun, args, error)
  }
}

/** A validator that waits, for a lookup for instance, has as long as the body. */
function parseArgsInTime(
  { host }: Batch,
  { entry, context }: ResolvedCall,
  parsing: PromiseLike<Parsed>,
): Promise<Parsed> {
  const { name, timeoutMs = host.services.toolTimeoutMs } = entry.tool
  return waitFor(parsing, { host, name: `The validation of the arguments of ${name}`, context, timeoutMs })
}

function applyParsed(
  batch: Batch,
  begun: ResolvedCall,
  given: unknown,
  parsed: Parsed,
  rewritten: JsonObject | undefined,
  then: Step,
): Prepared | Promise<Prepared> {
  const { call, entry, context } = begun
  if (!isRecord(parsed) || !('value' in parsed || parsed.issues)) return refuseUnchecked(batch, begun, given, undefined) // nothing was accepted
  if (!parsed.issues) return then(batch, { type: 'ready', call, entry, args: parsed.value, context, rewritten })
  const problem = `Invalid arguments for ${call.name}: ${describeIssues(parsed.issues)}`
  return refuseCall(batch, begun, given, 'INVALID_ARGS', problem)
}

/** A validator that throws has not accepted anything; its words may hold values, so they are not repeated. */
function refuseUnchecked(
  batch: Batch,
  begun: ResolvedCall,
  args: unknown,
  error: unknown,
): Prepared | Promise<Prepared> {
  const why = error instanceof TooDeepError || error instanceof Timeout ? error.message : 'they could not be checked'
  return refuseCall(batch, begun, args, 'INVALID_ARGS', `Invalid arguments for ${begun.call.name}: ${why}`)
}

/** Callbacks see the arguments as they were sent, so that what they give back can be checked like them. */
async function callBeforeTool(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const { call, entry, context } = ready
  let args: unknown = ready.rewritten ?? call.args
  let rewritten = false
  for (const beforeTool of batch.hooks.beforeTool) {
    const offered: JsonObject = isRecord(args) ? copyJson(args) : { value: args }
    const answer = await settled(() => beforeTool({ tool: entry.tool, args: offered, context }))
    if (context.questions.length) return await requestsFromBody(ready) // it asks before the body does
    if ('error' in answer) return failure(call, 'EXECUTION_FAILED', messageOf(answer.error))
    const said: unknown = answer.value
    if (said !== undefined) {
      if (!isBeforeToolResult(said)) return deniedByBadReturn(batch, call, said)
      if (said.args === undefined)
        return { type: 'answered', call, entry, args: ready.args, context, value: said.result }
      args = said.args
    }
    // changed in place counts like given back
    else if (canonicalJson(offered) !== canonicalJson(args)) args = offered
    else continue
    rewritten = true
  }
  return rewritten ? validate(batch, ready, args, true, gates) : gates(batch, ready)
}

/** `{ args }` with an object, or `{ result }`, and nothing else. */
function isBeforeToolResult(said: unknown): said is { args?: JsonObject; result?: unknown } {
  if (!isRecord(said) || !Object.keys(said).every((key) => key === 'args' || key === 'result')) return false
  return said.args === undefined ? Object.hasOwn(said, 'result') : isRecord(said.args) && said.result === undefined
}

/** A callback that says something else may have meant no: the call does not run. */
function deniedByBadReturn({ host, agentName }: Batch, call: CallState, said: unknown): Prepared {
  host.services.logger.error(
    `A beforeTool callback returned ${kindOf(said)} for tool "${call.name}" of agent "${agentName}", so the call was denied. Return nothing (undefined), { args } or { result }.`,
  )
  return failure(call, 'CANCELLED', `${call.name} was not run: a beforeTool callback returned an unexpected value.`)
}

/** The gates are passed only where there is one. */
function gates(batch: Batch, ready: ReadyCall): Prepared | Promise<Prepared> {
  const { entry, call } = ready
  const { requiresConfirmation, authConfig } = entry.tool
  if (!entry.gate && !requiresConfirmation && !authConfig && call.requests.length === 0) return ready
  return passGates(batch, ready)
}

async function settled<T>(ask: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await ask() }
  } catch (error) {
    return { error }
  }
}

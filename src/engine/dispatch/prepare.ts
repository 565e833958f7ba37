// Validates one call and passes it through callbacks and gates, up to the point where its body may run.
import { copyJson, isRecord, type JsonObject, MAX_DEPTH, TooDeepError } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { type CallState, NOT_RUN, type RequestState } from '../../core/event/invocation-state.ts'
import { describeIssues, errorOfCheck, type ParseResult } from '../../core/schema/issues.ts'
import { CallContext } from '../context/call-context.ts'
import { authorize } from './authorize.ts'
import { callBeforeTool } from './before-tool.ts'
import { checkBodyRequests, confirm, countingRequests, editedArgs } from './confirm.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import { missingTool, refuseCall } from './on-tool-error.ts'
import { failure, type Prepared, type ReadyCall, type ResolvedCall, unknownOutcome } from './outcome.ts'
import { recoverInterrupted } from './recover-interrupted.ts'
import { reportThrown } from './report-thrown.ts'
import { forgetAnswered } from './request-credential.ts'
import { entryFor, type ToolEntry, unknownTool } from './resolve.ts'
import { isPhaseScope, phaseRefusal, type RunPhases } from './run-phases.ts'
import { MAX_ARGS_DEPTH, storableArgs, TRUNCATED_BYTES } from './storable-args.ts'
import { Timeout, waitFor } from './wait-with-deadline.ts'

/** How often in a row an equal call may fail before it is no longer run. */
export const MAX_EQUAL_FAILURES = 3

/** Validates a call and passes it through callbacks and gates, up to the point where its body may run. */
export function prepare(batch: Batch, call: CallState): Prepared | Promise<Prepared> {
  const entry = entryFor(batch, call)
  if (wasAttempted(batch, call, entry)) return prepareKnown(batch, call, entry)
  const refused = call.requests.length === 0 ? refuseNew(batch, call) : undefined
  const stopped = refused ?? refuseRepeated(batch, call, entry)
  if (stopped) return stopped
  const { phases } = batch.host
  return phases ? prepareInPhase(batch, call, entry, phases) : prepareKnown(batch, call, entry)
}

/** Did the call start before a restart? Then its outcome must be recovered, and the limits do not apply. */
function wasAttempted(batch: Batch, call: CallState, entry: ToolEntry | undefined): boolean {
  return call.intent || (entry?.kind === 'agent' && batch.hasStarted(call))
}

/** Refuses a call that was never asked about: beyond the limit of its reply, or of a live session that has ended. */
function refuseNew(batch: Batch, call: CallState): Prepared | undefined {
  if (call.at >= batch.host.services.maxCallsPerReply) return overCallLimit(batch, call)
  if (call.madeIn === 'text' || batch.rules.startsLiveCalls) return undefined
  // its phase and `onToolCall` may have refused it
  return failure(call, 'CANCELLED', 'The live session ended before this call was run.')
}

/** The response to a call beyond the limit of its reply. */
function overCallLimit({ host, scope }: Batch, call: CallState): Prepared {
  const made = host.fold.scopes.get(scope.path)?.calls.length
  const limit = `at most ${host.services.maxCallsPerReply} calls of one reply are run`
  const error = `This call was not run: the reply has ${made} calls, and ${limit}. Make the call again in a later reply.`
  return { type: 'result', call, response: { status: NOT_RUN, error, errorCode: 'CANCELLED' } }
}

/** Refuses a call that has failed too often in a row. */
function refuseRepeated(batch: Batch, call: CallState, entry: ToolEntry | undefined): Prepared | undefined {
  const failed = batch.host.fold.failedInARow(call)
  if (failed < MAX_EQUAL_FAILURES || entry?.tool.mayRepeat) return undefined
  const error = `Tool "${call.name}" was not run: the same call has failed ${failed} times in a row.`
  return { ...failure(call, 'REPEATED_CALL', error), stops: batch.rules.stopsOnRepeat } // the user of a live model can intervene
}

/** Refuses a call that the phase does not allow, also one that was approved: the phase may have changed while it waited. */
async function prepareInPhase(
  batch: Batch,
  call: CallState,
  entry: ToolEntry | undefined,
  phases: RunPhases,
): Promise<Prepared> {
  if (!call.isCode && isPhaseScope(batch.host.fold, batch.scope.isolation)) {
    await phases.settle()
    const error = phaseRefusal(phases, call.name)
    if (error !== undefined) return { type: 'result', call, response: { error }, denied: true }
  }
  return await prepareKnown(batch, call, entry)
}

/**
 * Prepares a call that has passed its callbacks and gates in another process, with the arguments it had there. The gates know its
 * answers, and bring its credentials.
 */
export async function prepareDispatched(
  batch: Batch,
  call: CallState,
  dispatchedArgs: JsonObject | undefined,
): Promise<Prepared> {
  const entry = entryFor(batch, call)
  if (!entry || entry.isPassive) return await refuseUnknown(batch, call, entry)
  const { requests } = call
  const counting = requests.length
    ? countingRequests(call, { definition: await definitionOf(batch, entry), session: batch.host })
    : requests
  const context = contextOf(batch, call, entry, counting)
  const isRewritten = dispatchedArgs !== undefined
  return await validate(batch, { call, entry, context, args: dispatchedArgs ?? call.args, isRewritten, next: gates })
}

function prepareKnown(batch: Batch, call: CallState, entry: ToolEntry | undefined): Prepared | Promise<Prepared> {
  if (!entry || entry.isPassive) return refuseUnknown(batch, call, entry)
  if (call.requests.length === 0) return prepareResolved(batch, call, entry, call.requests)
  return definitionOf(batch, entry).then((definition) =>
    prepareResolved(batch, call, entry, countingRequests(call, { definition, session: batch.host })),
  )
}

/** Refuses a call of a tool that does not exist or that the model may not call. */
function refuseUnknown(batch: Batch, call: CallState, entry: ToolEntry | undefined): Prepared | Promise<Prepared> {
  if (call.isCode) {
    const error = `Agent "${batch.agentName}" has no codeExecutor. Set one to run model-written code.`
    return failure(call, 'NOT_FOUND', error)
  }
  if (call.intent) {
    const problem = `Tool "${call.name}" was interrupted while it ran and is no longer available; it may have taken effect.`
    return unknownOutcome(call, 'UNKNOWN_OUTCOME', problem)
  }
  const known = entry ?? missingTool(call.name)
  const context = contextOf(batch, call, known, call.requests)
  const unknown = { call, entry: known, context, args: call.args }
  return refuseCall(batch, unknown, 'NOT_FOUND', unknownTool(batch.table, call.name))
}

function prepareResolved(
  batch: Batch,
  call: CallState,
  entry: ToolEntry,
  requests: readonly RequestState[],
): Prepared | Promise<Prepared> {
  const context = contextOf(batch, call, entry, requests)
  const { args } = call
  if (entry.kind === 'agent' && batch.hasStarted(call))
    return { type: 'ready', call, entry, context, args, rewritten: undefined }
  if (!isRecord(args)) {
    const problem = `Invalid arguments for ${call.name}: they must be a JSON object, got ${kindOf(args)}`
    return refuseCall(batch, { call, entry, context, args }, 'INVALID_ARGS', problem)
  }
  const tooLarge = args[TRUNCATED_BYTES]
  if (typeof tooLarge === 'number')
    return refuseCall(batch, { call, entry, context, args }, 'INVALID_ARGS', argsTooLarge(batch, call, tooLarge))
  if (call.intent)
    return recoverInterrupted(batch, { call, entry, context }, (intended, isRewritten) =>
      validate(batch, { call, entry, context, args: intended, isRewritten, next: gates }),
    )
  const edited = requests.length ? editedArgs(call, entry.tool) : undefined
  const next = batch.hooks.beforeTool.length ? callbacksThenGates : gates
  const isRewritten = edited !== undefined
  const prepared = validate(batch, { call, entry, context, args: edited ?? args, isRewritten, next })
  return edited ? withInvalidEdit(prepared, edited) : prepared
}

function argsTooLarge({ host }: Batch, { name }: CallState, bytes: number): string {
  const { maxArgsBytes } = host.services
  const problem =
    bytes > maxArgsBytes
      ? `they have ${bytes} bytes, and at most ${maxArgsBytes} are allowed. Send less data, or split it into several calls`
      : 'the calls of this code exceed the limit for arguments in total. Send less data'
  return `Invalid arguments for ${name}: ${problem}.`
}

/** Adds invalid edited arguments to the response, so that the model knows that the approver sent them. */
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
    scheduling: batch.host.services.scheduling,
    onProgress: batch.onProgress,
  })
}

/** A call whose arguments are not validated yet. */
interface UncheckedCall extends ResolvedCall {
  readonly args: unknown
  /** The arguments come from a callback or an approver, not from the model. */
  readonly isRewritten: boolean
  /** What follows when the arguments are valid. */
  readonly next: (batch: Batch, ready: ReadyCall) => Prepared | Promise<Prepared>
}

/** Validates a copy of the arguments: the body, callbacks and gates cannot change the log. */
function validate(batch: Batch, unchecked: UncheckedCall): Prepared | Promise<Prepared> {
  const { call, entry, args, isRewritten } = unchecked
  try {
    const parsed = entry.parse(copyJson(args, MAX_DEPTH - MAX_ARGS_DEPTH))
    // copied here, before a callback changes the arguments
    const rewritten = isRewritten ? storableArgs(toJsonValue(args).value, batch.host.services.maxArgsBytes) : undefined
    const tooLarge = rewritten?.[TRUNCATED_BYTES]
    if (typeof tooLarge === 'number') {
      const problem = argsTooLarge(batch, call, tooLarge)
      return refuseCall(batch, { ...unchecked, args: rewritten }, 'INVALID_ARGS', problem)
    }
    // `parse` of a hand-written tool may return any thenable, or a value that is not a verdict
    if ('then' in parsed) {
      return parseArgsInTime(batch, unchecked, parsed).then(
        (value) => applyParsed(batch, unchecked, value, rewritten),
        (error) => {
          if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
          return refuseUnchecked(batch, unchecked, error)
        },
      )
    }
    return applyParsed(batch, unchecked, parsed, rewritten)
  } catch (error) {
    return refuseUnchecked(batch, unchecked, error)
  }
}

/** Waits for an asynchronous validator as long as for the body. */
function parseArgsInTime(
  { host }: Batch,
  { entry, context }: ResolvedCall,
  parsing: PromiseLike<ParseResult>,
): Promise<ParseResult> {
  const { name, timeoutMs = host.services.toolTimeoutMs } = entry.tool
  return waitFor(parsing, { host, name, step: 'Argument validation', context, timeoutMs })
}

function applyParsed(
  batch: Batch,
  unchecked: UncheckedCall,
  parsed: ParseResult,
  rewritten: JsonObject | undefined,
): Prepared | Promise<Prepared> {
  const { call, entry, context, next } = unchecked
  if (!isRecord(parsed) || !('value' in parsed || parsed.issues)) return refuseUnchecked(batch, unchecked, undefined)
  if (!parsed.issues) return next(batch, { type: 'ready', call, entry, args: parsed.value, context, rewritten })
  reportFailedCheck(batch, call, errorOfCheck(parsed))
  const problem = `Invalid arguments for ${call.name}: ${describeIssues(parsed.issues)}`
  return refuseCall(batch, unchecked, 'INVALID_ARGS', problem)
}

/** Refuses arguments whose validator failed. Its message is not repeated: it may hold values of the arguments. */
function refuseUnchecked(batch: Batch, unchecked: UncheckedCall, error: unknown): Prepared | Promise<Prepared> {
  reportFailedCheck(batch, unchecked.call, error)
  const why = error instanceof TooDeepError || error instanceof Timeout ? error.message : 'they could not be validated'
  return refuseCall(batch, unchecked, 'INVALID_ARGS', `Invalid arguments for ${unchecked.call.name}: ${why}`)
}

function reportFailedCheck({ host }: Batch, call: CallState, error: unknown): void {
  if (error === undefined || error instanceof TooDeepError) return
  reportThrown(host, error, { call, step: 'Validation', hidesMessage: true })
}

async function callbacksThenGates(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  const { call, entry, context } = ready
  const outcome = await callBeforeTool(batch, ready)
  if ('changed' in outcome)
    return await validate(batch, { call, entry, context, args: outcome.changed, isRewritten: true, next: gates })
  return outcome.type === 'ready' ? await gates(batch, outcome) : outcome
}

/** Passes a call through its gates. Skips the asynchronous gates for a call without a gate or a request. */
function gates(batch: Batch, ready: ReadyCall): Prepared | Promise<Prepared> {
  const { entry, call } = ready
  const { requiresConfirmation, authConfig } = entry.tool
  if (!entry.gate && !requiresConfirmation && !authConfig && call.requests.length === 0) return ready
  return passGates(batch, ready)
}

/** Checks the answers to requests of the body, then the confirmation gate, then the credential gate. */
async function passGates(batch: Batch, ready: ReadyCall): Promise<Prepared> {
  if (ready.call.requests.some(({ request }) => request.kind === 'credential')) {
    await forgetAnswered(batch.host, ready.call)
  }
  const answered = ready.call.requests.length ? await checkBodyRequests(batch, ready) : undefined
  if (answered?.type === 'stopped') return answered.outcome
  const confirmed = await confirm(batch, ready)
  if (confirmed.type !== 'ready') return confirmed
  const configs = [confirmed.entry.tool.authConfig ?? []].flat()
  const passed = configs.length ? await authorize(batch, confirmed, configs) : confirmed
  if (answered?.confirmation && passed.type === 'ready') passed.context.setConfirmation(answered.confirmation)
  return passed
}

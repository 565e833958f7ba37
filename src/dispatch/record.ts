// Turns outcomes into log entries: one event with all responses in call order, then the entries that follow from it.
import { type JsonObject, setOwn } from '../base/json.ts'
import { clip } from '../base/limits.ts'
import type { Part } from '../content/content.ts'
import { responsePart } from '../event/code-call.ts'
import type { CallTimes, EventActions, FailedAttempt, FailedAttempts, NewEntry } from '../event/event.ts'
import { type CallState, isFailure, NOT_RUN, signatureOf } from '../event/invocation-state.ts'
import { cancelledWork, type StartedWork } from './cancel-work.ts'
import type { Batch } from './host.ts'
import type { CallResult, Outcome, RequestingCall } from './outcome.ts'
import { MAX_EQUAL_FAILURES } from './prepare.ts'
import { requestEntries } from './request-records.ts'
import { entryFor } from './resolve.ts'

/** The entries for outcomes that are recorded together. Only the last outcomes of a batch transfer or end the turn. */
export function entriesOf(batch: Batch, outcomes: readonly Outcome[], times?: CallTimes): NewEntry[] {
  const actions: EventActions = {}
  const settled: Outcome[] = new Array(outcomes.length)
  let stops = false
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at] as Outcome
    if (outcome.type === 'result' && outcome.stops) stops = true
    settled[at] = outcome.type === 'result' ? mergeActions(batch, outcome, actions) : outcome
  }
  const isTurnOver = stops || actions.transferToAgent !== undefined || actions.escalate === true
  if (actions.skipSummarization && (actions.transferToAgent !== undefined || isWaiting(batch, settled))) {
    delete actions.skipSummarization // the turn does not end: another agent continues, or a result follows
  }
  const parts: Part[] = []
  const requesting: RequestingCall[] = []
  let longRunningToolIds: string[] | undefined
  let stop: string | undefined
  let grounding: JsonObject | undefined
  let failedAttempts: Record<string, readonly FailedAttempt[]> | undefined
  const failed: Map<string, number> | undefined = outcomes.length > 1 ? new Map() : undefined
  for (let at = 0; at < settled.length; at++) {
    const outcome = settled[at] as Outcome
    const { call } = outcome
    const { id, name } = call
    if (outcome.type !== 'result' || (outcome.pending && isTurnOver && !batch.live)) {
      if (isTurnOver && !batch.live)
        parts.push(
          responsePart(call, movedOnResponse(batch, call, outcome.type === 'result' ? outcome.response : undefined)),
        )
      else if (outcome.type === 'requesting') requesting.push(outcome)
      continue
    }
    const response = isFailure(outcome.response) ? withRepeatWarning(batch, outcome, failed) : outcome.response
    if (outcome.stops)
      stop = `The model called tool "${name}" again after it failed ${MAX_EQUAL_FAILURES} times in a row with equal arguments.`
    if (outcome.pending) {
      if (!entryFor(batch, call)?.tool.isLongRunning) {
        longRunningToolIds ??= [] // the body decided it, after the event with the call was recorded
        longRunningToolIds.push(id)
      }
      parts.push({ functionResponse: { id, name, response, willContinue: true } })
    } else if (call.isCode) parts.push(responsePart(call, response))
    else
      parts.push({
        functionResponse: { id, name, response, ...(outcome.modelOutput && { modelOutput: outcome.modelOutput }) },
      })
    if (outcome.parts) for (const part of outcome.parts) parts.push(part)
    if (outcome.failedAttempts) {
      failedAttempts ??= {}
      setOwn(failedAttempts, id, outcome.failedAttempts)
    }
    if (!call.isCode && batch.table.entries.get(name)?.kind === 'agent')
      grounding = batch.groundingOf(call) ?? grounding
  }
  if (isTurnOver && !batch.live) for (const part of responsesLeftBehind(batch, outcomes)) parts.push(part)
  const entries = eventsOf(batch, { parts, actions, longRunningToolIds, stop, grounding, times, failedAttempts })
  return requesting.length ? [...entries, ...requestEntries(batch, requesting)] : entries
}

/** Does a call of this reply still wait for an answer or a result? */
function isWaiting({ host, scope }: Batch, outcomes: readonly Outcome[]): boolean {
  if (outcomes.some((one) => one.type !== 'result' || one.pending)) return true
  const here = new Set(outcomes.map(({ call }) => call.id))
  const calls = host.fold.scopes.get(scope.path)?.calls ?? []
  return calls.some((call) => (!call.response || call.pending) && !here.has(call.id))
}

/** Merges the writes of a call into the actions of the event, in call order. An impossible transfer becomes an error. */
function mergeActions(batch: Batch, result: CallResult, actions: EventActions): CallResult {
  const own = result.actions
  if (!own) return result
  if (own.transferToAgent !== undefined) {
    const problem = batch.transferProblem(own.transferToAgent)
    if (problem)
      return {
        ...result,
        actions: undefined,
        response: { ...problem, error: clip(problem.error), errorCode: 'NOT_FOUND' },
      }
    if (actions.transferToAgent !== undefined) {
      const error = `an earlier call already transfers to ${actions.transferToAgent}; transfer not performed`
      return { ...result, actions: undefined, response: { error, errorCode: 'CANCELLED' } }
    }
    actions.transferToAgent = own.transferToAgent
  }
  if (own.escalate) actions.escalate = true
  if (own.skipSummarization) actions.skipSummarization = true
  if (own.stateDelta) actions.stateDelta = merged(actions.stateDelta, own.stateDelta)
  if (own.artifactDelta) actions.artifactDelta = merged(actions.artifactDelta, own.artifactDelta)
  return result
}

function merged<T>(into: { [key: string]: T } | undefined, from: { [key: string]: T }): { [key: string]: T } {
  if (!into) return { ...from } // a copy: the writes of a call must not change
  for (const key of Object.keys(from)) setOwn(into, key, from[key])
  return into
}

const MOVED_ON: JsonObject = {
  status: 'cancelled',
  reason: 'The agent transferred or ended its turn before this call was finished.',
}

/** The response to a call that no longer waits. `handle` is set when its long-running work has started. */
function movedOnResponse(batch: Batch, call: CallState, handle: JsonObject | undefined): JsonObject {
  if (!handle) return MOVED_ON
  const tool = entryFor(batch, call)?.tool
  if (tool?.effect === 'none') return { ...MOVED_ON, handle }
  return cancelledWork(
    { tool, handle },
    'The agent transferred or ended its turn before the result of this call arrived.',
  )
}

/** The long-running work that must be cancelled before these outcomes are recorded, because they end the turn. */
export function workLeftBehind(batch: Batch, outcomes: readonly Outcome[]): StartedWork[] | undefined {
  if (batch.live) return undefined // a live agent that transfers leaves its calls running
  let isTurnOver = false
  for (let at = 0; at < outcomes.length && !isTurnOver; at++) isTurnOver = endsTurn(batch, outcomes[at] as Outcome)
  if (!isTurnOver) return undefined
  const { host, scope } = batch
  const started: StartedWork[] = []
  const add = (call: CallState, handle: JsonObject): void => {
    started.push({ call, handle, tool: entryFor(batch, call)?.tool })
  }
  for (const one of outcomes) if (one.type === 'result' && one.pending) add(one.call, one.response)
  for (const call of host.fold.scopes.get(scope.path)?.calls ?? []) {
    if (call.pending && call.response) add(call, call.response.response)
  }
  return started
}

function endsTurn(batch: Batch, outcome: Outcome): boolean {
  if (outcome.type !== 'result' || (!outcome.actions && !outcome.stops)) return false
  const { actions, stops } = outcome
  if (stops || actions?.escalate) return true
  return actions?.transferToAgent !== undefined && !batch.transferProblem(actions.transferToAgent)
}

/**
 * Adds a warning to the third equal failure in a row: the next equal call ends the run. `failed` counts equal failures
 * among the outcomes that are recorded together.
 */
function withRepeatWarning(batch: Batch, result: CallResult, failed: Map<string, number> | undefined): JsonObject {
  const { call, response, stops } = result
  if (response.status === NOT_RUN) return response
  const signature = failed && signatureOf(call)
  const beside = (signature !== undefined && failed?.get(signature)) || 0
  if (signature !== undefined) failed?.set(signature, beside + 1)
  if (stops || entryFor(batch, call)?.tool.mayRepeat) return response
  if (batch.host.fold.failedInARow(call) + beside + 1 !== MAX_EQUAL_FAILURES) return response
  const otherwise = batch.live ? 'it is not run again unchanged' : 'calling it again unchanged ends the run'
  const error = `${String(response.error)} (This exact call has now failed ${MAX_EQUAL_FAILURES} times in a row. Change the arguments, use another tool, or answer without it: ${otherwise}.)`
  return { ...response, error, errorCode: 'REPEATED_CALL' }
}

/** Responses to calls of the same reply that wait for an answer or a result, which can no longer arrive. */
function responsesLeftBehind(batch: Batch, outcomes: readonly Outcome[]): Part[] {
  const { host, scope } = batch
  const here = new Set(outcomes.map(({ call }) => call.id))
  const calls = host.fold.scopes.get(scope.path)?.calls ?? []
  return calls
    .filter((call) => (!call.response || call.pending) && !here.has(call.id))
    .map((call) => responsePart(call, movedOnResponse(batch, call, call.pending ? call.response?.response : undefined)))
}

interface BatchResponses {
  readonly parts: readonly Part[]
  readonly actions: EventActions
  readonly longRunningToolIds: readonly string[] | undefined
  readonly stop: string | undefined
  readonly grounding: JsonObject | undefined
  readonly times: CallTimes | undefined
  readonly failedAttempts: FailedAttempts | undefined
}

function eventsOf({ host, agentName, scope }: Batch, recorded: BatchResponses): NewEntry[] {
  const { parts, actions, longRunningToolIds, stop, grounding, times, failedAttempts } = recorded
  const { escalate } = actions
  const entries: NewEntry[] = []
  if (escalate) delete actions.escalate // recorded as a separate event
  if (parts.length) {
    const event = host.recorder.draft(agentName, scope, { role: 'tool', parts }, actions)
    if (longRunningToolIds) event.longRunningToolIds = longRunningToolIds
    if (grounding) event.groundingMetadata = grounding
    if (times) event.callTimes = times
    if (failedAttempts) event.failedAttempts = failedAttempts
    entries.push({ event })
  }
  if (escalate && actions.transferToAgent === undefined) {
    entries.push({ event: host.recorder.draft(agentName, scope, undefined, { escalate: true }) })
  }
  if (stop !== undefined) {
    const event = host.recorder.draft(agentName, scope, undefined, {})
    event.errorCode = 'REPEATED_CALL'
    event.errorMessage = stop
    entries.push({ event })
  }
  return entries
}

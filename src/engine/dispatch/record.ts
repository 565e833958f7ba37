// Turns outcomes into log entries: one event with all responses in call order, then the entries that follow from it.
import { type JsonObject, setOwn } from '../../core/base/json.ts'
import { clip } from '../../core/base/limits.ts'
import type { Part } from '../../core/content/content.ts'
import { responsePart } from '../../core/event/code-call.ts'
import {
  type BackgroundCall,
  type CallTimes,
  type EventActions,
  type FailedAttempt,
  type NewEntry,
  NO_ACTIONS,
} from '../../core/event/event.ts'
import { type CallState, isFailure, NOT_RUN, signatureOf } from '../../core/event/invocation-state.ts'
import { cancelledWork, type StartedWork } from './cancel-work.ts'
import type { Batch } from './host.ts'
import type { CallResult, Outcome, RequestingCall } from './outcome.ts'
import { MAX_EQUAL_FAILURES } from './prepare.ts'
import { requestEntries } from './request-records.ts'
import { entryFor } from './resolve.ts'

/** Whether the agent goes on after the responses. */
type TurnEnd = 'goes on' | 'ends' | 'transfers'

/** What the outcomes of a batch become. */
interface Responses {
  readonly parts: Part[]
  readonly requesting: RequestingCall[]
  readonly times: CallTimes | undefined
  longRunningToolIds: string[] | undefined
  background: BackgroundCall[] | undefined
  stop: string | undefined
  grounding: JsonObject | undefined
  failedAttempts: Record<string, readonly FailedAttempt[]> | undefined
}

/** The entries for outcomes that are recorded together. Only the last outcomes of a batch transfer or end the turn. */
export function entriesOf(batch: Batch, outcomes: readonly Outcome[], times?: CallTimes): NewEntry[] {
  const actions = outcomes.some(hasActions) ? {} : NO_ACTIONS
  const settled = mergeAll(batch, outcomes, actions)
  const end = endOf(actions, outcomes)
  if (actions.skipSummarization && (end === 'transfers' || isWaiting(batch, settled))) {
    delete actions.skipSummarization // the turn does not end: another agent continues, or a result follows
  }
  const responses = responsesTo(batch, settled, { isClosing: end !== 'goes on' && closesCalls(batch), times })
  const entries = eventsOf(batch, actions, responses)
  return responses.requesting.length ? [...entries, ...requestEntries(batch, responses.requesting)] : entries
}

/** Merges the writes of all calls into the actions of the event, in call order. */
function mergeAll(batch: Batch, outcomes: readonly Outcome[], actions: EventActions): readonly Outcome[] {
  const settled: Outcome[] = new Array(outcomes.length)
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at] as Outcome
    settled[at] = outcome.type === 'result' ? mergeActions(batch, outcome, actions) : outcome
  }
  return settled
}

const hasActions = (outcome: Outcome): boolean => outcome.type === 'result' && outcome.actions !== undefined

function endOf(actions: EventActions, outcomes: readonly Outcome[]): TurnEnd {
  if (actions.transferToAgent !== undefined) return 'transfers'
  if (actions.escalate) return 'ends'
  for (let at = 0; at < outcomes.length; at++) if (isStop(outcomes[at] as Outcome)) return 'ends'
  return 'goes on'
}

const isStop = (outcome: Outcome): boolean => outcome.type === 'result' && outcome.stops === true

/** Does the end of a turn answer the calls that still wait? A live agent that transfers leaves its calls running. */
const closesCalls = (batch: Batch): boolean => batch.rules.closesCallsOnTurnEnd

/** The responses of the calls, in call order. A closing turn also answers the calls that still wait. */
function responsesTo(
  batch: Batch,
  outcomes: readonly Outcome[],
  { isClosing, times }: { readonly isClosing: boolean; readonly times: CallTimes | undefined },
): Responses {
  const responses: Responses = {
    parts: [],
    requesting: [],
    times,
    longRunningToolIds: undefined,
    background: undefined,
    stop: undefined,
    grounding: undefined,
    failedAttempts: undefined,
  }
  const failed: Map<string, number> | undefined = outcomes.length > 1 ? new Map() : undefined
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at] as Outcome
    if (isClosing && isOpen(outcome)) responses.parts.push(movedOnPart(batch, outcome))
    else if (outcome.type === 'requesting') responses.requesting.push(outcome)
    else if (outcome.type === 'result') addResult(batch, responses, outcome, failed)
  }
  if (isClosing) for (const part of responsesLeftBehind(batch, outcomes)) responses.parts.push(part)
  return responses
}

/** Does the call wait for an answer or a result? */
const isOpen = (outcome: Outcome): boolean => outcome.type !== 'result' || outcome.pending === true

function addResult(batch: Batch, to: Responses, result: CallResult, failed: Map<string, number> | undefined): void {
  const { call, pending } = result
  const response = isFailure(result.response) ? withRepeatWarning(batch, result, failed) : result.response
  to.parts.push(partFor(result, response))
  if (result.parts) for (const part of result.parts) to.parts.push(part)
  if (result.stops)
    to.stop = `The model called tool "${call.name}" again after it failed ${MAX_EQUAL_FAILURES} times in a row with equal arguments.`
  if (pending && !entryFor(batch, call)?.tool.isLongRunning) {
    to.longRunningToolIds ??= [] // the body decided it, after the event with the call was recorded
    to.longRunningToolIds.push(call.id)
  }
  if (result.background) {
    const { until, engine } = result.background
    to.background ??= []
    to.background.push({ id: call.id, ...(until !== undefined && { until }), ...(engine && { engine }) })
  }
  if (result.failedAttempts) {
    to.failedAttempts ??= {}
    setOwn(to.failedAttempts, call.id, result.failedAttempts)
  }
  if (!call.isCode && batch.table.entries.get(call.name)?.kind === 'agent')
    to.grounding = batch.groundingOf(call) ?? to.grounding
}

function partFor({ call, pending, modelOutput }: CallResult, response: JsonObject): Part {
  const { id, name } = call
  if (pending) return { functionResponse: { id, name, response, willContinue: true } }
  if (call.isCode) return responsePart(call, response)
  return { functionResponse: { id, name, response, ...(modelOutput && { modelOutput }) } }
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

/** The response to a call of these outcomes that no longer waits. */
function movedOnPart(batch: Batch, outcome: Outcome): Part {
  const handle = outcome.type === 'result' ? outcome.response : undefined
  return responsePart(outcome.call, movedOnResponse(batch, outcome.call, handle))
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
  if (!closesCalls(batch)) return undefined
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
  const ends = batch.rules.stopsOnRepeat
  const otherwise = ends ? 'calling it again unchanged ends the run' : 'it is not run again unchanged'
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

function eventsOf({ host, agentName, scope }: Batch, actions: EventActions, responses: Responses): NewEntry[] {
  const { parts, longRunningToolIds, background, stop, grounding, times, failedAttempts } = responses
  const { escalate } = actions
  const entries: NewEntry[] = []
  // before the handles, which end the attempt: the record keeps whether it had an intent
  if (background)
    entries.push({
      record: { type: 'background', invocationId: host.invocationId, path: scope.path, calls: background },
    })
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

// Approvals of the AI SDK as records of the server. When the AI SDK asks whether a call needs an approval, the call is recorded and
// pauses, in a session of its own that belongs to the user and the conversation. An approval in the messages answers that request:
// once, and nowhere else. A repeated approval gets the recorded result.

import { canonicalJson, type JsonObject } from '../../../core/base/json.ts'
import { scopeOfKey } from '../../../core/base/key-scope.ts'
import type { FunctionCall, Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { decisionOf } from '../../../core/event/decision.ts'
import type { Event } from '../../../core/event/event.ts'
import { REQUEST_NAMES } from '../../../core/event/request-names.ts'
import { CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import type { Session, SessionKey, SessionService } from '../../../services/session/service.ts'
import { AGENT_NAME, type CallEnvironment, endPending, refusal, type ToolCallRun } from './run-tool-call.ts'

/** Where approvals are recorded: `toAiSdkTools()` has checked that both are given. */
export interface ApprovalEnvironment extends CallEnvironment {
  /** The session of the conversation. */
  readonly sessionId: string
  /** Stores the requests. */
  readonly sessionService: SessionService
}

/** The most characters of the reason of a denial. The rest is cut. */
const MAX_REASON_LENGTH = 8_000

/** Records a request for the approval of a call. Does nothing if there is one. */
export async function requestApproval(tool: Tool, call: FunctionCall, environment: ApprovalEnvironment): Promise<void> {
  const { sessionService, userId, runContext } = environment
  const key = await approvalKey(call, environment)
  if (await sessionService.getSession(key)) return
  const calls = callRunner(tool, environment)
  try {
    await calls.run(call, { userId, sessionId: key.sessionId, runContext })
  } catch (error) {
    if (!isTaken(error)) throw error // else it was asked for at the same time
  }
}

/**
 * Runs a call whose approval was requested in this conversation, or returns its recorded result. Undefined if the approval was
 * not requested here: then it does not count.
 */
export async function runApproved(
  tool: Tool,
  call: FunctionCall,
  environment: ApprovalEnvironment,
  signal: AbortSignal | undefined,
): Promise<ToolCallRun | undefined> {
  const { appName, userId, sessionId, sessionService, runContext } = environment
  const key = await approvalKey(call, environment)
  const asked = await sessionService.getSession(key)
  const request = asked && requestOf(asked)
  if (!asked || !request) return undefined
  if (canonicalJson(callOf(asked)?.args ?? {}) !== canonicalJson(call.args)) {
    return refusal(tool, 'its arguments differ from those the approval was requested for', key.sessionId)
  }
  const answer = answerTo(asked, request)
  if (answer && !decisionOf(answer).confirmed) return refusal(tool, 'the user has denied it', key.sessionId)
  const calls = callRunner(tool, environment)
  const home = { appName, userId, sessionId }
  const stateDelta = ownState((await sessionService.getSession(home))?.state ?? {})
  const started = { userId, sessionId: key.sessionId, runContext, signal }
  const outcome = await calls.answer([decisionPart(request, { confirmed: true })], { ...started, stateDelta })
  if (outcome.type === 'result') await shareState(calls, key, home)
  return await endPending(calls, tool, outcome, started)
}

/**
 * Records that the user has denied a call whose approval was requested in this conversation. A request that has an answer, has
 * expired or was not made here stays as it is.
 */
export async function recordDenial(
  tools: ReadonlyMap<string, Tool>,
  { id, reason }: { readonly id: string; readonly reason: string | undefined },
  environment: ApprovalEnvironment,
): Promise<void> {
  const { sessionService, userId, runContext } = environment
  const { sessionId, ...owner } = await approvalKey({ id }, environment)
  const asked = await sessionService.getSession({ ...owner, sessionId })
  const request = asked && requestOf(asked)
  const tool = asked && tools.get(callOf(asked)?.name ?? '')
  if (!asked || !request || !tool || answerTo(asked, request)) return
  const denial = { confirmed: false, ...(reason && { reason: reason.slice(0, MAX_REASON_LENGTH) }) }
  try {
    await callRunner(tool, environment).answer([decisionPart(request, denial)], { userId, sessionId, runContext })
  } catch (error) {
    if (!isTaken(error) && !isOver(error)) throw error
  }
}

/** The session of a request: a digest, so that ids of any length and form fit. */
async function approvalKey({ id }: Pick<FunctionCall, 'id'>, where: ApprovalEnvironment): Promise<SessionKey> {
  const { appName, userId, sessionId } = where
  return { appName, userId, sessionId: `approval-${await digestOf(sessionId, id)}` }
}

/** Runs the call with a gate that always asks: `needsApproval` has decided that the call needs an approval. */
function callRunner(
  tool: Tool,
  { userId: _, sessionId: _2, runContext: _3, ...services }: CallEnvironment,
): CallRunner {
  const gated = overrideTool(tool, { requiresConfirmation: true })
  return new CallRunner({ ...services, agentName: AGENT_NAME, tools: [gated] })
}

/** The id of the first request. Later ones are not those that the user was shown. */
function requestOf({ events }: Session): string | undefined {
  return partsOf(events).find(({ functionCall }) => functionCall?.name === REQUEST_NAMES.confirmation)?.functionCall?.id
}

function callOf({ events }: Session): FunctionCall | undefined {
  return partsOf(events).find(({ functionCall }) => functionCall)?.functionCall
}

/** The recorded answer to a request. */
function answerTo({ events }: Session, request: string): JsonObject | undefined {
  return partsOf(events).find(({ functionResponse }) => functionResponse?.id === request)?.functionResponse?.response
}

function partsOf(events: readonly Event[]): Part[] {
  return events.flatMap(({ content }) => content?.parts ?? [])
}

function decisionPart(id: string, response: JsonObject): Part {
  return { functionResponse: { id, name: REQUEST_NAMES.confirmation, response } }
}

/** Writes what the call has changed to the session of the conversation, once, also if the approval is repeated. */
async function shareState({ runner }: CallRunner, from: SessionKey, home: SessionKey): Promise<void> {
  const { sessionService } = runner
  const { events = [] } = (await sessionService.getSession(from)) ?? {}
  const written = events.filter(({ author }) => author !== 'user').map(({ actions }) => actions.stateDelta)
  const stateDelta = ownState(Object.assign({}, ...written))
  if (Object.keys(stateDelta).length === 0) return
  await sessionService.createSession(home).catch((error) => {
    if (!isTaken(error)) throw error
  })
  await runner.internals.updateStateOnce({ ...home, stateDelta }, from.sessionId)
}

/** The state that belongs to one session. All sessions of a user share the rest. */
function ownState(state: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([name]) => scopeOfKey(name) === 'session'))
}

const TAKEN: readonly unknown[] = ['ALREADY_EXISTS', 'SESSION_BUSY', 'PAUSED']

/** Errors of a request that can no longer be answered. */
const OVER: readonly unknown[] = ['ALREADY_ANSWERED', 'EXPIRED', 'NOT_FOUND']

function isOver(error: unknown): boolean {
  return error instanceof ToolwrightError && OVER.includes(error.code)
}

function isTaken(error: unknown): boolean {
  return error instanceof ToolwrightError && TAKEN.includes(error.code)
}

// Runs one tool call of the AI SDK. The AI SDK cannot answer pending requests: a call that becomes pending is cancelled.
import type { FunctionCall } from '../../../core/content/content.ts'
import type { RunContext } from '../../../engine/context/run-context.ts'
import type { RunnerOptions } from '../../../engine/runner/runner-options.ts'
import type { CallOutcome, CallResult } from '../../../engine/runner/single-call/call-outcome.ts'
import { CallRunner, type StartedCall } from '../../../engine/runner/single-call/call-runner.ts'
import type { Tool } from '../../../engine/tool/tool.ts'

/** The user, the session and the services of a tool call. */
export interface CallEnvironment
  extends Omit<RunnerOptions, 'agent' | 'models' | 'whilePaused' | 'media' | 'phases' | 'engine' | 'limits'> {
  /** The user the tools act for. */
  readonly userId: string
  /** The session of the call. Default: a new session. */
  readonly sessionId?: string | undefined
  /** Calls of the user with the same id share results of `cached()`: the session, or else the tools of one `toAiSdkTools()`. */
  readonly callerId: string
  /** Passed to the tools, as `runner.run({ runContext })` does. */
  readonly runContext?: RunContext | undefined
}

/** A finished tool call and its session. */
export interface ToolCallRun {
  /** The result of the call. Undefined when the run ended without one. */
  readonly result: CallResult | undefined
  /** The session with the event log of the call. */
  readonly sessionId: string
}

/** Name of the agent that makes the calls, in the event log. */
export const AGENT_NAME = 'ai_sdk'

/** Runs a tool call and returns its result, or the handle of long-running work. A call that needs an answer is cancelled. */
export async function runToolCall(
  tool: Tool,
  call: FunctionCall,
  { userId, sessionId, runContext, ...services }: CallEnvironment,
  signal: AbortSignal | undefined,
): Promise<ToolCallRun> {
  const calls = new CallRunner({ ...services, agentName: AGENT_NAME, tools: [tool] })
  const outcome = await calls.run(call, { userId, sessionId, runContext, signal })
  return await endPending(calls, tool, outcome, { userId, sessionId: outcome.sessionId, runContext })
}

/** The result of a call. A call that needs an answer is cancelled. */
export async function endPending(
  calls: CallRunner,
  tool: Tool,
  outcome: CallOutcome,
  call: StartedCall,
): Promise<ToolCallRun> {
  const { sessionId } = outcome
  if (outcome.type === 'result') return outcome
  if (outcome.type === 'ended') return { result: undefined, sessionId }
  if (outcome.handle) return { result: outcome.handle, sessionId }
  await calls.cancel(call)
  const instead =
    'Call the tool from an agent. If it only needs an approval, turn acceptAiSdkApproval on: an approval counts in the session and for the user that needsApproval() was called for'
  return refusal(tool, `it needs an answer from the user, which toAiSdkTools() cannot request. ${instead}`, sessionId)
}

/** The result of a call that was not run. */
export function refusal({ name }: Tool, why: string, sessionId: string): ToolCallRun {
  const error = `Tool "${name}" was not run: ${why}.`
  return { result: { response: { error, errorCode: 'CANCELLED' }, parts: [] }, sessionId }
}

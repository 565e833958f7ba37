// The phase of a conversation, as the dispatcher and the request of a model read it. Live and text runs use the same rules.
import type { PhaseRecord } from '../../core/event/event.ts'
import type { Fold } from '../../core/event/fold.ts'
import type { StateReader } from '../../services/session/service.ts'

/** The phase of the conversation in one run. */
export interface RunPhases {
  /** Follows transitions until the phase fits the state. Undefined if there is nothing to wait for. */
  settle(): Promise<void> | undefined
  /** The tools of the phase. Undefined: all. */
  allowedTools(): ReadonlySet<string> | undefined
  /** The instruction of the phase. Empty if it has none. */
  instruction(): string | Promise<string>
  /** Values computed from state, which conditions read. Undefined if there are none. */
  readonly derived?: StateReader | undefined
}

/** The response to a call of a tool that the phase does not allow; undefined if it does. */
export function phaseRefusal(phases: Pick<RunPhases, 'allowedTools'>, toolName: string): string | undefined {
  if (isAllowed(phases.allowedTools(), toolName)) return undefined
  return refusalText(toolName)
}

/** What the model gets instead of a result if it calls a tool that the phase does not allow. */
export function refusalText(toolName: string): string {
  return `Tool '${toolName}' is not available in the current conversation phase.`
}

/** The record of a phase that a conversation has reached. */
export function phaseRecord(
  invocationId: string,
  { name, tools }: { readonly name: string; readonly tools?: readonly string[] | undefined },
): PhaseRecord {
  return { type: 'phase', invocationId, phase: name, ...(tools && { tools: [...tools] }) }
}

/** The tool with which a model gives its structured answer. It has no effect, and without it an agent could not answer. */
const ANSWER_TOOL = 'set_model_response'

/** Does a list of tools allow this one? */
export function isAllowed(allowed: ReadonlySet<string> | undefined, toolName: string): boolean {
  return allowed === undefined || allowed.has(toolName) || toolName === ANSWER_TOOL
}

/** The phase that the log has, for a run that does not know the phases: it stays where it is, and its tools are the recorded ones. */
export function recordedPhase({ tools }: PhaseRecord): RunPhases {
  const allowed = tools && new Set(tools)
  return { settle: () => undefined, allowedTools: () => allowed, instruction: () => '' }
}

/**
 * Does the phase apply to calls of this scope? Not inside an agent tool: the phase allows the agent tool, and so what it does. Code that
 * the model writes calls the same tools as the model.
 */
export function isPhaseScope(fold: Fold, isolation: string | undefined): boolean {
  if (isolation === undefined) return true
  const call = fold.calls.get(isolation.slice(isolation.lastIndexOf('@') + 1))
  return call?.isCode === true && isPhaseScope(fold, fold.scopes.get(call.path)?.isolation)
}

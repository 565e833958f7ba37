import type { SessionKey, SessionService } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { isMissingModel, noModel } from '../../agent/agents/missing-model.ts'
import { activeAgent } from '../../agent/loop/next.ts'
import { type ReadonlyView, SessionView } from '../../agent/loop/session-view.ts'
import type { RunRequest } from '../run/run-request.ts'

/**
 * Throws if the agent that answers a new message has no model, before anything is recorded. A callback may answer instead of the
 * model. Call it if `hasMissingModel` of the tree.
 */
export function requireModel(tree: AgentTree, view: ReadonlyView, invocationId: string): void {
  const { agent } = activeAgent(tree.root, { fold: view.foldOf(invocationId), tree }, tree.root.name)
  if (!(agent instanceof LlmAgent)) return
  const { model, hooks } = tree.plan(agent)
  if (isMissingModel(model) && hooks.beforeModel.length + hooks.beforeAgent.length === 0) throw noModel(agent.name)
}

/**
 * Throws what `requireModel` would throw, before the session of the message is created: a refused message leaves no session. In a
 * session that exists, the log decides who answers.
 */
export async function checkFirstMessage(
  key: SessionKey,
  { isNew, message, invocationId, live }: Pick<RunRequest, 'isNew' | 'message' | 'invocationId' | 'live'>,
  { tree, sessionService }: { readonly tree: AgentTree; readonly sessionService: SessionService },
): Promise<void> {
  if (live || !message || !invocationId) return
  if (!isNew && (await sessionService.getSession({ ...key, config: { numRecentEvents: 1 } }))) return
  requireModel(tree, new SessionView(tree), invocationId)
}

// The messages of a model request, rebuilt from the log with the code that builds requests.
import { type Content, hasMedia, isHandle } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { treeAt } from '../../agent/loop/find-tool.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { contentsFor } from '../../agent/request/build-request.ts'
import type { RunServices } from '../run-services.ts'
import { readStoredLog } from './stored-log.ts'

/**
 * Why rebuilt messages may differ from those that were sent. `callbacks`, `tools`: those of the agent may change requests. `files`:
 * stored files are references here. `answers`: some arrived while the model may have been replying. `no-model`: a callback may have
 * replied instead of the model.
 */
export type RequestDoubt = 'callbacks' | 'tools' | 'files' | 'answers' | 'no-model'

/** A request as the log tells it. The instruction, the tools and the settings are in no log. */
export interface RebuiltRequest {
  /** The reply. */
  readonly reply: Event
  /** The reply before it in its run, of the same agent or else of any. */
  readonly previousId: string | undefined
  /** The messages. Undefined: the agent of the reply no longer exists, or a live model replied. */
  readonly contents: readonly Content[] | undefined
  /** Why they may differ from those that were sent. Empty: they are the same. */
  readonly doubts: readonly RequestDoubt[]
}

interface Parts {
  readonly services: Pick<RunServices, 'sessionService' | 'ports'>
  readonly tree: AgentTree
}

/** Rebuilds the request of a reply. Undefined if the log has no such event, or it is no reply of a model. */
export async function rebuildRequest(
  key: SessionKey,
  eventId: string,
  { services, tree }: Parts,
): Promise<RebuiltRequest | undefined> {
  const view = new SessionView(tree)
  for await (const { entries } of readStoredLog(key, 1, services)) {
    const at = entries.findIndex(({ event }) => event?.id === eventId)
    view.catchUp(at < 0 ? entries : entries.slice(0, at))
    const reply = entries[at]?.event
    if (reply) return isReply(reply) ? requestOf(reply, view, tree) : undefined
  }
  return undefined
}

function isReply({ turnComplete, usageMetadata, errorCode }: Event): boolean {
  return turnComplete === true || usageMetadata !== undefined || errorCode === 'MODEL_ERROR'
}

function requestOf(reply: Event, view: SessionView, root: AgentTree): RebuiltRequest {
  const { author, nodeInfo, branch, isolationScope: isolation, live, modelVersion, errorCode } = reply
  const before = view.events.filter((event) => event.invocationId === reply.invocationId && isReply(event))
  const previousId = (before.findLast((event) => event.author === author) ?? before.at(-1))?.id
  const fold = view.foldOf(reply.invocationId)
  const tree = nodeInfo && !live ? treeAt(root, fold, nodeInfo.path) : undefined
  const agent = tree?.find(author)
  if (!nodeInfo || !tree || !(agent instanceof LlmAgent)) return { reply, previousId, contents: undefined, doubts: [] }
  const contents = contentsFor(view, agent, { path: nodeInfo.path, branch, isolation })
  const { hooks, table } = tree.plan(agent)
  const doubts: RequestDoubt[] = []
  if (hooks.beforeModel.length > 0) doubts.push('callbacks')
  if (table.processors.length > 0 || agent.dynamicTools.length > 0) doubts.push('tools')
  if (contents.some(({ parts }) => hasMedia(parts))) doubts.push('files')
  if (hasLateAnswers(reply, view.events)) doubts.push('answers')
  if (modelVersion === undefined && errorCode === undefined) doubts.push('no-model')
  return { reply, previousId, contents, doubts }
}

/**
 * Did an answer arrive after the event that made the agent ask its model? That event is the latest in its scope. A new scope begins after
 * the latest event of any agent, or with the message. After an event that makes the agent wait, it is the first answer.
 */
function hasLateAnswers({ invocationId, nodeInfo, branch }: Event, events: readonly Event[]): boolean {
  const run = events.filter((event) => event.invocationId === invocationId)
  const own = run.findLastIndex((event) => event.nodeInfo?.path === nodeInfo?.path)
  const last = own < 0 && branch === undefined ? run.findLastIndex(({ author }) => author !== 'user') : own
  const later = run.slice(last + 1).filter(({ author }) => author === 'user').length
  return later > (last < 0 || (own >= 0 && waitsAfter(run[own])) ? 1 : 0)
}

/** Does the agent wait after this event? A reply has ended its turn, or its calls wait; a handle announces a result. */
function waitsAfter(event: Event | undefined): boolean {
  if (event?.content?.role !== 'tool') return event?.content?.role !== 'user'
  return event.content.parts.some(({ functionResponse }) => functionResponse && isHandle(functionResponse))
}

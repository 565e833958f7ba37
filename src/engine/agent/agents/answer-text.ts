// The answer of an agent as text: its last reply, or the last reply of every branch if the agent ends with branches.
import { type Content, textOf } from '../../../core/content/content.ts'
import { type Event, isFinalResponse } from '../../../core/event/event.ts'
import { childPath, isWithin, type ScopePath } from '../../../core/event/scope.ts'
import { shownResponse } from '../request/shown-response.ts'
import type { Agent } from './agent.ts'
import type { AgentTree } from './agent-tree.ts'
import { ParallelAgent } from './workflow.ts'

/** Who reads an answer: the app, or the model of an agent that called this one. */
type Reader = 'app' | 'model'

/**
 * Returns the text of an answer. If the answer is tool responses, returns their text; a model gets only the part that
 * it may see.
 */
export function answerTextOf(content: Content | undefined, reader: Reader = 'app'): string {
  if (!content) return ''
  if (content.role !== 'tool') return textOf(content)
  const responses = content.parts.flatMap(({ functionResponse }) => {
    if (!functionResponse) return []
    return [reader === 'model' ? shownResponse(functionResponse) : functionResponse.response]
  })
  return responses
    .map((response) => {
      const text = response.text ?? response.result
      return typeof text === 'string' ? text : JSON.stringify(response)
    })
    .join('\n')
}

/**
 * Is the event an answer of an agent in this isolation scope? The partial result of a long-running call is not an
 * answer.
 */
export function isAnswerIn(event: Event, isolation: string | undefined): boolean {
  if (event.isolationScope !== isolation || event.longRunningToolIds?.length) return false
  return event.content !== undefined && isFinalResponse(event)
}

/** The agent whose answer is read, and the reader. */
interface AnswerQuery {
  readonly agent: Agent
  /** The tree of the agent. */
  readonly tree: AgentTree
  /** Default `app`. */
  readonly reader?: Reader
}

/**
 * The answer of an agent that may end with branches. Each branch has a line `[name]` and its text below, in the order
 * of `subAgents`, with an empty line between branches. `events` are those of the invocation.
 */
export function branchedText(query: AnswerQuery, scope: ScopePath, events: readonly Event[]): string {
  const answers = events.filter((event) => isAnswerIn(event, scope.isolation))
  return textInScope(query, scope.path, answers)
}

function textInScope(query: AnswerQuery, path: string, answers: readonly Event[]): string {
  const { agent, tree, reader } = query
  const inScope = answers.filter(({ nodeInfo }) => nodeInfo && isWithin(nodeInfo.path, path))
  if (agent instanceof ParallelAgent && agent.subAgents.length > 1) {
    return agent.subAgents
      .map((child) => ({
        child,
        text: textInScope({ ...query, agent: child }, childPath(path, child.name, 1), inScope),
      }))
      .flatMap(({ child, text }) => (text ? [`[${child.name}]\n${text}`] : []))
      .join('\n\n')
  }
  const last = inScope.at(-1)
  if (!last?.content || !last.nodeInfo) return ''
  const step = last.nodeInfo.path.slice(path.length + 1).split('/')[0]
  const child = step ? tree.find(step.slice(0, step.lastIndexOf('@')), agent) : undefined
  return child
    ? textInScope({ ...query, agent: child }, `${path}/${step}`, inScope)
    : answerTextOf(last.content, reader)
}

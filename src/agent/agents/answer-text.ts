// The answer of an agent as text: its last words, and those of every branch when branches spoke last.
import { type Content, textOf } from '../../content/content.ts'
import { type Event, isFinalResponse } from '../../event/event.ts'
import { childPath, isWithin, type ScopePath } from '../../event/scope.ts'
import { shownResponse } from '../request/history.ts'
import type { Agent } from './agent.ts'
import type { AgentTree } from './agent-tree.ts'
import { ParallelAgent } from './workflow.ts'

/** Who reads an answer: the app, or the model of an agent that called this one. */
type Reader = 'app' | 'model'

/** The text of an answer, or what tools returned when their responses are the answer: to a model, what it may see of them. */
export function answerTextOf(content: Content, reader: Reader = 'app'): string {
  if (content.role !== 'tool') return textOf(content)
  const answers = content.parts.flatMap(({ functionResponse: one }) =>
    one ? [reader === 'model' ? shownResponse(one) : one.response] : [],
  )
  return answers
    .map((response) => {
      const said = response.text ?? response.result
      return typeof said === 'string' ? said : JSON.stringify(response)
    })
    .join('\n')
}

/** Is it an answer of an agent in this isolation scope? A handle is none. */
export function isAnswerIn(event: Event, isolation: string | undefined): boolean {
  if (event.isolationScope !== isolation || event.longRunningToolIds?.length) return false
  return event.content !== undefined && isFinalResponse(event)
}

/**
 * The answer of an agent that may end with branches: `[name]` and a line with the text of each, in the order of
 * `subAgents`, with an empty line between them. `events`: those of the invocation.
 */
export function branchedText(
  agent: Agent,
  tree: AgentTree,
  scope: ScopePath,
  events: readonly Event[],
  reader: Reader = 'app',
): string {
  const answers = events.filter((event) => isAnswerIn(event, scope.isolation))
  return textIn(agent, tree, scope.path, answers, reader)
}

function textIn(agent: Agent, tree: AgentTree, path: string, answers: readonly Event[], reader: Reader): string {
  const here = answers.filter(({ nodeInfo }) => nodeInfo && isWithin(nodeInfo.path, path))
  if (agent instanceof ParallelAgent && agent.subAgents.length > 1) {
    return agent.subAgents
      .map((child) => ({ child, text: textIn(child, tree, childPath(path, child.name, 1), here, reader) }))
      .flatMap(({ child, text }) => (text ? [`[${child.name}]\n${text}`] : []))
      .join('\n\n')
  }
  const last = here.at(-1)
  if (!last?.content || !last.nodeInfo) return ''
  const step = last.nodeInfo.path.slice(path.length + 1).split('/')[0]
  const child = step ? tree.find(step.slice(0, step.lastIndexOf('@')), agent) : undefined
  return child ? textIn(child, tree, `${path}/${step}`, here, reader) : answerTextOf(last.content, reader)
}

import type { Event } from '../../../core/event/event.ts'
import type { AgentNode } from './agent-tree.ts'

/** The edges that an event used: from its agent to the tools that it called, and from the tools that answered it. */
export function highlightsOf({ author, content, actions }: Event, root: AgentNode): [from: string, to: string][] {
  const pairs: [from: string, to: string][] = []
  for (const { functionCall, functionResponse } of content?.parts ?? []) {
    if (functionCall) pairs.push([author, functionCall.name])
    if (functionResponse) pairs.push([functionResponse.name, author])
  }
  if (actions.transferToAgent !== undefined) pairs.push([author, actions.transferToAgent])
  if (pairs.length > 0 || author === 'user') return pairs
  return hasAgent(root, author) ? [[author, '']] : []
}

function hasAgent(node: AgentNode, name: string): boolean {
  return node.name === name || node.sub_agents.some((child) => hasAgent(child, name))
}

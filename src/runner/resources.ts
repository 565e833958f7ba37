// What agents hold open: toolsets with their connections, code executors with their workers.
import type { Agent } from '../agent/agent.ts'
import { agentOf } from '../agent/agent-tool.ts'
import { LlmAgent } from '../agent/llm-agent.ts'
import type { CodeExecutor } from '../tool/code-executor.ts'
import { innermost } from '../tool/delegate-toolset.ts'
import { isToolset, type Toolset } from '../tool/toolset.ts'

type Resource = Toolset | CodeExecutor

/** Of these agents and of those they use as tools, each once, whatever filters and prefixes stand before it. */
export function resourcesOf(agents: readonly Agent[]): Resource[] {
  const seen = new Set<Agent>()
  const found = new Set<Resource>()
  const visit = (agent: Agent): void => {
    if (!(agent instanceof LlmAgent) || seen.has(agent)) return
    seen.add(agent)
    if (agent.options.codeExecutor) found.add(agent.options.codeExecutor)
    for (const source of agent.dynamicTools) if (isToolset(source)) found.add(innermost(source))
    for (const tool of agent.table.tools.values()) {
      const inside = agentOf(tool)?.agent
      if (inside) withDescendants(inside).forEach(visit)
    }
  }
  agents.forEach(visit)
  return [...found]
}

function withDescendants(agent: Agent): Agent[] {
  return [agent, ...(agent.subAgents ?? []).flatMap(withDescendants)]
}

export async function closeResource(one: Resource): Promise<void> {
  if (one.shutdown) await one.shutdown()
  else if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]?.()
}

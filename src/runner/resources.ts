// What agents hold open: toolsets with their connections, code executors with their workers.
import type { Agent } from '../agent/agents/agent.ts'
import { agentToolSettings } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import type { Ports } from '../base/ports.ts'
import { withTimeout } from '../base/with-timeout.ts'
import type { CodeExecutor } from '../tool/code-executor.ts'
import { innermost } from '../tool/delegate-toolset.ts'
import { isToolset, type Toolset } from '../tool/toolset.ts'
import type { Plugin } from './plugins/plugin.ts'

type Resource = Toolset | CodeExecutor

/**
 * Of these agents and of those they use as tools, each once, whatever filters and prefixes stand before it. `returned`:
 * toolsets that dynamic sources have returned.
 */
export function resourcesOf(agents: readonly Agent[], returned: Iterable<Toolset>): Resource[] {
  const seen = new Set<Agent>()
  const found = new Set<Resource>(returned)
  const visit = (agent: Agent): void => {
    if (!(agent instanceof LlmAgent) || seen.has(agent)) return
    seen.add(agent)
    if (agent.options.codeExecutor) found.add(agent.options.codeExecutor)
    for (const source of agent.dynamicTools) if (isToolset(source)) found.add(innermost(source))
    for (const tool of agent.table.tools.values()) {
      const inside = agentToolSettings(tool)?.agent
      if (inside) withDescendants(inside).forEach(visit)
    }
  }
  agents.forEach(visit)
  return [...found]
}

function withDescendants(agent: Agent): Agent[] {
  return [agent, ...(agent.subAgents ?? []).flatMap(withDescendants)]
}

/** The name of a resource in an error. */
export function resourceName(one: Resource): string {
  return isToolset(one) ? `Toolset "${one.name}"` : 'A code executor'
}

/** `close()` of a runner waits no longer than this for each of its parts. */
const CLOSE_MS = 10_000

/** Rejects when closing has not ended in time: one part that hangs must not keep a process from ending. */
export function closeInTime(what: string, work: Promise<void>, ports: Pick<Ports, 'setTimer'>): Promise<void> {
  return withTimeout(work, CLOSE_MS, ports, () => {
    throw new Error(`${what} did not close within ${CLOSE_MS} ms`)
  })
}

export async function closePlugin(plugin: Plugin): Promise<void> {
  await plugin.close?.()
}

export async function closeResource(one: Resource): Promise<void> {
  if (one.shutdown) await one.shutdown()
  else if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]?.()
}

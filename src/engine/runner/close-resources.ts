// Closes what a runner holds open: toolsets with their connections, code executors with their workers, plugins.

import type { Ports } from '../../core/base/ports.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { messageOf } from '../../core/error/error.ts'
import type { Agent } from '../agent/agents/agent.ts'
import { agentToolSettings } from '../agent/agents/agent-tool.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import type { CodeExecutor } from '../tool/code-executor.ts'
import { isToolset, type Toolset } from '../tool/toolset.ts'
import { innermostToolset } from '../tool/wrap-toolset.ts'
import type { RunServices } from './run-services.ts'

type Resource = Toolset | CodeExecutor

/** Closes all toolsets, code executors and plugins at the same time. Throws one error for all that failed. */
export async function closeAll(agents: readonly Agent[], services: RunServices): Promise<void> {
  const { ports, plugins, keptToolsets, logger } = services
  // a source may still be listing its tools: its toolset is closed when it arrives
  const returned = keptToolsets.takeAll((late) => {
    closeResource(late).catch((error) => logger.warn(`${resourceName(late)} did not close: ${messageOf(error)}`, error))
  })
  const closing = [
    ...resourcesOf(agents, returned).map((one) => closeInTime(resourceName(one), closeResource(one), ports)),
    ...plugins.map((plugin) => closeInTime(`Plugin "${plugin.name}"`, (async () => plugin.close?.())(), ports)),
  ]
  const failed = (await Promise.allSettled(closing)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failed.length) {
    throw new AggregateError(failed, `The runner did not close completely: ${failed.map(messageOf).join('; ')}`)
  }
}

/** The resources of these agents and of agents they use as tools, each once. `returned`: toolsets of dynamic sources. */
function resourcesOf(agents: readonly Agent[], returned: Iterable<Toolset>): Resource[] {
  const seen = new Set<Agent>()
  const found = new Set<Resource>(returned)
  const visit = (agent: Agent): void => {
    if (!(agent instanceof LlmAgent) || seen.has(agent)) return
    seen.add(agent)
    if (agent.options.codeExecutor) found.add(agent.options.codeExecutor)
    for (const source of agent.dynamicTools) if (isToolset(source)) found.add(innermostToolset(source))
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
function resourceName(one: Resource): string {
  return isToolset(one) ? `Toolset "${one.name}"` : 'A code executor'
}

/** `runner.close()` waits no longer than this for each resource. */
const CLOSE_MS = 10_000

/** Rejects when a resource hangs: the process must still be able to end. */
function closeInTime(name: string, work: Promise<void>, ports: Pick<Ports, 'setTimer'>): Promise<void> {
  return withTimeout(work, CLOSE_MS, ports, () => {
    throw new Error(`${name} did not close within ${CLOSE_MS} ms`)
  })
}

async function closeResource(one: Resource): Promise<void> {
  if (one.shutdown) await one.shutdown()
  else if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]?.()
}

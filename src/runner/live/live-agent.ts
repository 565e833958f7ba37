import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import { activeAgent } from '../../agent/loop/next.ts'
import type { ScopeFrame } from '../../agent/loop/run-host.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { RunData } from '../run/run-data.ts'

/** The scope of a live session: that of the root agent. */
export function frameOf({ tree }: RunData): ScopeFrame {
  return { path: tree.root.name, tree }
}

/** The agent that speaks. A workflow agent cannot: it has no model. */
export function speakingAgent({ tree, fold, progress }: RunData): LlmAgent {
  const { agent } = activeAgent(tree.root, { fold, tree, progress }, tree.root.name)
  if (agent instanceof LlmAgent) return agent
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `Agent "${agent.name}" cannot speak in a live session: it is not an LlmAgent. Use an LlmAgent, and pass workflow agents as tools with agentTool().`,
  )
}

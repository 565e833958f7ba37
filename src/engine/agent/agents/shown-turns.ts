import type { Agent } from './agent.ts'
import { LlmAgent } from './llm-agent.ts'

/** Which turns of a conversation the agents of a tree show to their models. */
export interface ShownTurns {
  /** The most turns that an agent with `history` shows. 0: no agent has it. */
  readonly most: number
  /** Does every agent show only its latest turns? Then no model sees earlier ones. */
  readonly areEnough: boolean
}

/** The turns that these agents show. Agents of agent tools have conversations of their own, which are never cut. */
export function shownTurnsOf(agents: readonly Agent[]): ShownTurns {
  const counts = agents.flatMap((agent) => (agent instanceof LlmAgent ? [agent.options.history?.lastTurns ?? 0] : []))
  const most = Math.max(0, ...counts)
  return { most, areEnough: most > 0 && !counts.includes(0) }
}

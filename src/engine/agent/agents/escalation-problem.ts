import type { Tool } from '../../tool/tool.ts'
import { EXITS_LOOP } from '../../tool/tool-marks.ts'
import { type Agent, subAgentsOf } from './agent.ts'
import type { AgentTree } from './agent-tree.ts'
import { LlmAgent } from './llm-agent.ts'
import { ParallelAgent, SequentialAgent } from './workflow.ts'

/** Where a call escalates. */
interface EscalatingScope {
  /** The agents of the scope. */
  readonly tree: AgentTree
  /** The scope path. */
  readonly path: string
  /** The path of the enclosing agent tool scope. */
  readonly isolation?: string | undefined
}

/** The error of `exit_loop` for the model if there is no loop to end. Other tools may escalate anywhere. */
export function escalationProblem(tool: Tool, scope: EscalatingScope): string | undefined {
  if (!(EXITS_LOOP in tool) || isInLoop(scope)) return undefined
  return `${tool.name} has no effect: this agent runs in no loop. Do not call it again; answer instead.`
}

/** Does an agent above this scope end with an escalation? A `LoopAgent` does, and a custom agent may. */
function isInLoop({ tree, path, isolation }: EscalatingScope): boolean {
  // what runs inside an agent tool does not end a loop outside of it
  const [, ...names] = path
    .slice(isolation?.length ?? 0)
    .split('/')
    .map((segment) => segment.split('@')[0] ?? '')
  let agent: Agent | undefined = tree.root
  for (const name of names) {
    if (!agent || endsByEscalation(agent)) return true
    agent = subAgentsOf(agent).find((child) => child.name === name) ?? tree.find(name, agent)
  }
  return false
}

function endsByEscalation(agent: Agent): boolean {
  return !(agent instanceof LlmAgent || agent instanceof SequentialAgent || agent instanceof ParallelAgent)
}

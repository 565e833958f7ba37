import { closestNames } from '../../../core/base/closest-names.ts'
import { agentTool } from '../../../engine/agent/agents/agent-tool.ts'
import { type CallOptions, CallRunner } from '../../../engine/runner/single-call/call-runner.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { findAgents, type PlacedAgent } from '../../server/graph/find-agents.ts'
import { inheritedModel } from '../../server/graph/inherited-model.ts'
import { callbacksOf, type ServedAgent, toolsOf } from '../load/served-agent.ts'
import { UsageError } from '../terminal.ts'

/** An agent and the tools that a user can call. */
export interface AgentTools {
  /** The name of the agent. */
  readonly agent: string
  /** Its tools. The root agent itself is one of them. */
  readonly tools: readonly Tool[]
}

/** Calls the tools of all agents of a file, each with the callbacks of the agent that has it. */
export class AgentCalls {
  readonly #served: ServedAgent
  readonly #agents: ReadonlyMap<string, PlacedAgent>
  readonly #runners: Map<string, CallRunner> = new Map()

  constructor(served: ServedAgent) {
    this.#served = served
    this.#agents = findAgents(served.agent)
  }

  /** The agents that have tools, the root first. `only`: the name of one agent. */
  async list(options: CallOptions, only?: string): Promise<AgentTools[]> {
    const listed: AgentTools[] = []
    for (const agent of only === undefined ? this.#agents.keys() : [this.#known(only)]) {
      const known = [...(await this.#runnerOf(agent).list(options)).values()]
      const tools = known.filter((tool) => tool.declaration() !== undefined) // the provider runs the others
      if (tools.length > 0) listed.push({ agent, tools })
    }
    return listed
  }

  /**
   * Finds the agent that has a tool: the root before others. Toolsets are listed only if no agent has a tool of this name
   * without them. A tool that no agent has is called at the agent with the most similar one, whose answer names it.
   */
  async runnerFor(tool: string, options: CallOptions, only?: string): Promise<CallRunner> {
    if (only !== undefined) return this.#runnerOf(this.#known(only))
    const root = this.#served.agent.name
    const fixed = [...this.#agents.keys()].filter((agent) => this.#runnerOf(agent).fixedTools.has(tool))
    const owners = fixed.length > 0 ? fixed : await this.#ownersOf(tool, options)
    const [first = root, ...others] = owners
    if (others.length === 0 || first === root) return this.#runnerOf(first)
    const names = owners.map((agent) => `"${agent}"`).join(' and ')
    throw new UsageError(`Tool "${tool}" belongs to the agents ${names}. Pass --agent with one of them.`)
  }

  /** Cancels all calls and closes the toolsets. */
  async close(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.close()))
  }

  async #ownersOf(tool: string, options: CallOptions): Promise<string[]> {
    const listed = await this.list(options)
    const ownersOf = (wanted: string | undefined): string[] =>
      listed.filter(({ tools }) => tools.some(({ name }) => name === wanted)).map(({ agent }) => agent)
    const owners = ownersOf(tool)
    if (owners.length > 0) return owners
    const names = listed.flatMap(({ tools }) => tools.map(({ name }) => name))
    return ownersOf(closestNames(tool, names)[0]).slice(0, 1)
  }

  #known(agent: string): string {
    if (this.#agents.has(agent)) return agent
    const names = [...this.#agents.keys()].map((name) => `"${name}"`).join(', ')
    throw new UsageError(`There is no agent "${agent}". The agents are: ${names}.`)
  }

  #runnerOf(name: string): CallRunner {
    const known = this.#runners.get(name)
    if (known) return known
    const { agent: root, options } = this.#served
    const placed = this.#agents.get(name) ?? { agent: root, above: [] }
    const { agent } = placed
    const tools = [...toolsOf(agent), ...(agent === root ? [agentTool(agent)] : [])]
    const model = inheritedModel(placed, options)
    const runner = new CallRunner({ ...options, ...callbacksOf(agent), model, agentName: CALLER, tools })
    this.#runners.set(name, runner)
    return runner
  }
}

/** The name of the agent that makes the calls, in the event log. */
const CALLER = 'cli'

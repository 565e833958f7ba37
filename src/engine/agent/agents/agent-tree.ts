// The agents of a runner: parents, transfer targets, and the model, tools and callbacks of each agent.

import { ToolwrightError } from '../../../core/error/error.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { Model } from '../../model/model.ts'
import { type Agent, checkAgentName, subAgentsOf } from './agent.ts'
import { type AgentPlan, hasOwnTransferTool, makePlan } from './agent-plan.ts'
import { type AgentToolSettings, agentToolSettings } from './agent-tool.ts'
import { type Callbacks, type Hooks, hooksOf } from './callbacks.ts'
import { LlmAgent } from './llm-agent.ts'
import { isMissingModel, missingModel, noModel } from './missing-model.ts'
import { type ShownTurns, shownTurnsOf } from './shown-turns.ts'

/** What the runner passes to a tree. */
interface TreeOptions {
  /** Finds the model with this name. Throws if there is none. */
  resolveModel(name: string, agentName: string): Model
  /** The callbacks of the plugins. They run before those of the agents. */
  readonly plugins: readonly Callbacks[]
  /** The model of agents that have none and inherit none from an agent above them. */
  readonly model?: Model | undefined
  /** What the agents are for: `live` ones only speak through a live model, so that their own models do not matter. Default `text`. */
  readonly use?: 'text' | 'live' | undefined
}

const NO_PLUGINS: readonly Callbacks[] = []

/** An agent and all agents below it. The agent of an agent tool has its own tree. */
export class AgentTree {
  /** The agent at the top. */
  readonly root: Agent
  /** Whether an agent of the tree has no model, so that it can only speak. The plans of the agents decide it. */
  hasMissingModel = false
  /** Which turns of the conversation its agents show to their models. */
  readonly shownTurns: ShownTurns
  readonly #options: TreeOptions
  readonly #parents: Map<Agent, Agent> = new Map()
  readonly #plans: Map<LlmAgent, AgentPlan> = new Map()
  readonly #toolTrees: Map<Agent, AgentTree[]> = new Map()
  readonly #hooks: Map<Agent, Hooks> = new Map()

  constructor(root: Agent, options: TreeOptions) {
    this.root = root
    this.#options = options
    this.#addAgent(root, [])
    this.shownTurns = shownTurnsOf(this.agents())
  }

  /** Makes the plan of every agent, so that a wrong configuration fails before the first run. */
  prepare(above: readonly Agent[] = []): void {
    if (above.includes(this.root)) {
      const names = [...above, this.root].map(({ name }) => name).join(' -> ')
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Agents call each other as tools in a cycle: ${names}. Remove one of these agent tools.`,
      )
    }
    for (const agent of this.agents()) {
      if (!(agent instanceof LlmAgent)) continue
      const { table, model } = this.plan(agent)
      if (this.#options.use !== 'live') this.prepareTools(table, model, above)
    }
  }

  /** Makes the plans of the agents in these tools. `model` is the model of the calling agent. */
  prepareTools(table: ToolTable, model: Model, above: readonly Agent[] = []): void {
    for (const { tool } of table.entries.values()) {
      const settings = agentToolSettings(tool)
      if (settings) this.treeForTool(settings, model).prepare([...above, this.root])
    }
  }

  /** All agents of the tree, the root first. */
  agents(): Agent[] {
    return [this.root, ...this.#parents.keys()]
  }

  /** The parent of an agent. Undefined for the root. */
  parentOf(agent: Agent): Agent | undefined {
    return this.#parents.get(agent)
  }

  /** Finds an agent by name: the first one below `from`, else the first one of the tree. */
  find(name: string, from: Agent = this.root): Agent | undefined {
    return findBelow(from, name) ?? findBelow(this.root, name)
  }

  /**
   * Can the conversation leave this agent again, from parent to parent up to the root? If not, it does not keep later
   * messages: the user could not get out of it.
   */
  canReturnToRoot(agent: Agent): boolean {
    for (let at = agent; at !== this.root; ) {
      const parent = this.parentOf(at)
      if (!parent || !(at instanceof LlmAgent) || at.options.disallowTransferToParent) return false
      if (!this.#reachable(at).includes(parent)) return false
      at = parent
    }
    return true
  }

  /** The callbacks of an agent of any kind: those of plugins, then its own. */
  hooks(agent: Agent): Hooks {
    let hooks = this.#hooks.get(agent)
    if (!hooks) {
      const own = agent instanceof LlmAgent ? [agent.options] : []
      hooks = hooksOf([...this.#options.plugins, ...own])
      this.#hooks.set(agent, hooks)
    }
    return hooks
  }

  /** The plan of an agent of this tree. */
  plan(agent: LlmAgent): AgentPlan {
    let plan = this.#plans.get(agent)
    if (!plan) {
      const { root } = this
      const reachable = this.#reachable(agent)
      const parent = this.parentOf(agent)
      plan = makePlan(agent, {
        model: this.#modelOf(agent),
        isLive: this.#options.use === 'live',
        hooks: this.hooks(agent),
        reachable,
        parent: parent instanceof LlmAgent && reachable.includes(parent) ? parent : undefined,
        isAlone: this.#parents.size === 0,
        globalInstruction: root instanceof LlmAgent ? root.options.globalInstruction : undefined,
      })
      this.#plans.set(agent, plan)
    }
    return plan
  }

  /** The tree of the agent of an agent tool. `inherited` is the model of the calling agent. */
  treeForTool(settings: AgentToolSettings, inherited: Model | undefined): AgentTree {
    const { agent, includePlugins, model = inherited } = settings
    const plugins = includePlugins ? this.#options.plugins : NO_PLUGINS
    const known = this.#toolTrees.get(agent) ?? []
    let tree = known.find((other) => other.#options.model === model && other.#options.plugins === plugins)
    if (!tree) {
      tree = new AgentTree(agent, { ...this.#options, plugins, model, use: 'text' })
      this.#toolTrees.set(agent, [...known, tree])
    }
    return tree
  }

  /** Checks an agent and its descendants, and records their parents. */
  #addAgent(agent: Agent, above: readonly Agent[]): void {
    checkAgentName(agent.name)
    if (agent instanceof LlmAgent) agent.attach(() => this.plan(agent).table)
    if (above.includes(agent)) {
      const names = [...above, agent].map(({ name }) => name).join(' -> ')
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `The agent tree has a cycle: ${names}. Remove one of these agents from subAgents.`,
      )
    }
    const names = new Set<string>()
    for (const child of subAgentsOf(agent)) {
      if (names.has(child.name)) {
        throw new ToolwrightError(
          'INVALID_CONFIG',
          `Agent "${agent.name}" has two sub-agents named "${child.name}". Rename one of them.`,
        )
      }
      names.add(child.name)
      const other = this.#parents.get(child)
      if (other) {
        throw new ToolwrightError(
          'INVALID_CONFIG',
          `Agent "${child.name}" is in the tree twice, below "${other.name}" and below "${agent.name}". Create a second agent for one of them.`,
        )
      }
      this.#addAgent(child, [...above, agent])
      this.#parents.set(child, agent)
    }
  }

  #modelOf(agent: LlmAgent): Model {
    const { use, resolveModel, model: inherited } = this.#options
    for (let owner: Agent | undefined = agent; owner; owner = this.parentOf(owner)) {
      const model = owner instanceof LlmAgent ? owner.model : undefined
      if (typeof model === 'string') {
        if (use === 'live') break // it names the live model, or the one of text runs
        return resolveModel(model, owner.name)
      }
      if (model) return model
    }
    if (inherited && !isMissingModel(inherited)) return inherited
    if (!inherited && !this.#canSpeak(agent)) throw noModel(agent.name)
    this.hasMissingModel = true
    return missingModel(agent.name)
  }

  /** Can the agent speak in a live session? It is the root, or transfers lead from the root to it. */
  #canSpeak(agent: LlmAgent): boolean {
    for (let at: Agent | undefined = agent; at; at = this.parentOf(at)) if (!(at instanceof LlmAgent)) return false
    return true
  }

  /**
   * Sub-agents, the parent and its other sub-agents. All agents of the tree if the agent's `tools` have
   * `transferToAgent()`.
   */
  #reachable(agent: LlmAgent): readonly Agent[] {
    const { disableTransfer, disallowTransferToParent, disallowTransferToPeers } = agent.options
    if (disableTransfer) return []
    if (hasOwnTransferTool(agent)) return this.agents().filter((other) => other !== agent)
    const parent = this.parentOf(agent)
    const near: Agent[] = [...agent.subAgents]
    if (parent instanceof LlmAgent) {
      if (!disallowTransferToParent) near.push(parent)
      if (!disallowTransferToPeers) near.push(...parent.subAgents.filter((other) => other !== agent))
    }
    return near
  }
}

function findBelow(agent: Agent, name: string): Agent | undefined {
  if (agent.name === name) return agent
  for (const child of agent.subAgents ?? []) {
    const found = findBelow(child, name)
    if (found) return found
  }
  return undefined
}

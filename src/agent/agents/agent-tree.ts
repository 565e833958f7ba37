// The agents of a runner: parents, transfer targets, and the model, tools and callbacks of each agent.
import { entryOf, type ToolEntry, type ToolTable } from '../../dispatch/resolve.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Model } from '../../tool/model.ts'
import { callableFromCode, codeInstruction, codeTool } from '../code/code-tool.ts'
import { constantText } from '../request/instruction.ts'
import { fitServerTools } from '../request/server-tools.ts'
import { addedTools, chooseOutputMode, type OutputMode } from './added-tools.ts'
import { type Agent, checkAgentName, subAgentsOf } from './agent.ts'
import { type AgentToolSettings, agentToolSettings } from './agent-tool.ts'
import { type Callbacks, type Hooks, hooksOf } from './callbacks.ts'
import { LlmAgent } from './llm-agent.ts'
import type { Instruction } from './llm-agent-options.ts'
import { TRANSFER_TO_AGENT, transferInstruction } from './transfer.ts'

/** What the runner passes to a tree. */
export interface TreeOptions {
  /** Finds the model with this name. Throws if there is none. */
  resolveModel(name: string, agentName: string): Model
  /** The callbacks of the plugins. They run before those of the agents. */
  readonly plugins: readonly Callbacks[]
  /** The model of agents that have none and inherit none from an agent above them. */
  readonly model?: Model | undefined
}

/** Everything about an LlmAgent that is the same for all its model calls. */
export interface AgentPlan {
  /** The agent. */
  readonly agent: LlmAgent
  /** The agent's model, perhaps inherited from an agent above it. */
  readonly model: Model
  /** The callbacks of plugins and of the agent. */
  readonly hooks: Hooks
  /** The agent's own tools and those the framework adds. Dynamic tools are not in it. */
  readonly table: ToolTable
  /** The tool that runs the code of the model. Undefined without a `codeExecutor`. */
  readonly code: ToolEntry | undefined
  /** The agents that the model can transfer to. */
  readonly reachable: readonly Agent[]
  /** The `globalInstruction` of the root agent. */
  readonly globalInstruction: Instruction | undefined
  /** The instruction that the framework adds: the transfer targets, and how code runs. */
  readonly addedInstruction: string
  /** The whole system instruction if it is constant. */
  readonly constantInstruction: { readonly text: string } | undefined
  /** How the model gives a structured answer. */
  readonly output: OutputMode
}

const NO_PLUGINS: readonly Callbacks[] = []

/** An agent and all agents below it. The agent of an agent tool has its own tree. */
export class AgentTree {
  /** The agent at the top. */
  readonly root: Agent
  readonly #options: TreeOptions
  readonly #parents: Map<Agent, Agent> = new Map()
  readonly #plans: Map<LlmAgent, AgentPlan> = new Map()
  readonly #toolTrees: Map<Agent, AgentTree[]> = new Map()
  readonly #hooks: Map<Agent, Hooks> = new Map()

  constructor(root: Agent, options: TreeOptions) {
    this.root = root
    this.#options = options
    this.#addAgent(root, [])
  }

  /** Makes the plan of every agent, so that a wrong configuration fails before the first run. */
  prepare(above: readonly Agent[] = []): void {
    if (above.includes(this.root)) {
      const names = [...above, this.root].map(({ name }) => name).join(' -> ')
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `Agents call each other as tools in a circle: ${names}. Remove one of these agent tools.`,
      )
    }
    for (const agent of this.agents()) {
      if (!(agent instanceof LlmAgent)) continue
      const { table, model } = this.plan(agent)
      for (const { tool } of table.entries.values()) {
        const settings = agentToolSettings(tool)
        if (settings) this.treeForTool(settings, model).prepare([...above, this.root])
      }
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
      plan = this.#makePlan(agent)
      this.#plans.set(agent, plan)
    }
    return plan
  }

  /** The tree of the agent of an agent tool. `model` is the model of the calling agent. */
  treeForTool(settings: AgentToolSettings, model: Model | undefined): AgentTree {
    const { agent, includePlugins } = settings
    const plugins = includePlugins ? this.#options.plugins : NO_PLUGINS
    const known = this.#toolTrees.get(agent) ?? []
    let tree = known.find((other) => other.#options.model === model && other.#options.plugins === plugins)
    if (!tree) {
      tree = new AgentTree(agent, { ...this.#options, plugins, model })
      this.#toolTrees.set(agent, [...known, tree])
    }
    return tree
  }

  /** Checks an agent and all below it, and notes their parents. */
  #addAgent(agent: Agent, above: readonly Agent[]): void {
    checkAgentName(agent.name)
    if (agent instanceof LlmAgent) agent.attach(() => this.plan(agent).table)
    if (above.includes(agent)) {
      const names = [...above, agent].map(({ name }) => name).join(' -> ')
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `The agent tree has a circle: ${names}. Remove one of these agents from subAgents.`,
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

  #makePlan(agent: LlmAgent): AgentPlan {
    const model = this.#modelOf(agent)
    const hasOwnTransferTool = agent.table.entries.has(TRANSFER_TO_AGENT)
    const reachable = this.#reachable(agent, hasOwnTransferTool)
    const transferTo = hasOwnTransferTool ? [] : reachable
    const output = chooseOutputMode(agent.output, transferTo.length > 0 || agent.hasTools, model)
    const added = addedTools({ transferTo, output: agent.output, mode: output })
    const table = fitServerTools(agent.tableWith(added), model, agent.name)
    const { codeExecutor } = agent.options
    const addedInstruction = joinParagraphs([
      reachable.length ? transferInstruction(reachable) : undefined,
      codeExecutor && codeInstruction(codeExecutor, callableFromCode(table)),
    ])
    const root = this.root
    const globalInstruction = root instanceof LlmAgent ? root.options.globalInstruction : undefined
    const constants = [constantText(globalInstruction), constantText(agent.options.instruction)]
    return {
      agent,
      model,
      hooks: this.hooks(agent),
      table,
      code: codeExecutor && entryOf(codeTool(codeExecutor)),
      reachable,
      globalInstruction,
      addedInstruction,
      constantInstruction:
        constants[0] && constants[1]
          ? { text: joinParagraphs([constants[0].text, constants[1].text, addedInstruction]) }
          : undefined,
      output,
    }
  }

  #modelOf(agent: LlmAgent): Model {
    for (let owner: Agent | undefined = agent; owner; owner = this.parentOf(owner)) {
      const model = owner instanceof LlmAgent ? owner.model : undefined
      if (typeof model === 'string') return this.#options.resolveModel(model, owner.name)
      if (model) return model
    }
    if (this.#options.model) return this.#options.model
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Agent "${agent.name}" has no model, and no agent above it has one. Set its model: new LlmAgent({ model, ... }).`,
    )
  }

  /**
   * Sub-agents, the parent and its other sub-agents. All agents of the tree if the agent's `tools` have
   * `transferToAgent()`.
   */
  #reachable(agent: LlmAgent, hasOwnTransferTool: boolean): readonly Agent[] {
    const { disableTransfer, disallowTransferToParent, disallowTransferToPeers } = agent.options
    if (disableTransfer) return []
    if (hasOwnTransferTool) return this.agents().filter((other) => other !== agent)
    const parent = this.parentOf(agent)
    const near: Agent[] = [...agent.subAgents]
    if (parent instanceof LlmAgent) {
      if (!disallowTransferToParent) near.push(parent)
      if (!disallowTransferToPeers) near.push(...parent.subAgents.filter((other) => other !== agent))
    }
    return near
  }
}

/** Joins the paragraphs of a system instruction, without empty ones. */
export function joinParagraphs(paragraphs: readonly (string | undefined)[]): string {
  return paragraphs.filter(Boolean).join('\n\n')
}

function findBelow(agent: Agent, name: string): Agent | undefined {
  if (agent.name === name) return agent
  for (const child of agent.subAgents ?? []) {
    const found = findBelow(child, name)
    if (found) return found
  }
  return undefined
}

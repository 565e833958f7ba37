// The agents of a run: who belongs to whom, who can hand over to whom, and what each one works with.
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
import { type Instruction, LlmAgent } from './llm-agent.ts'
import { TRANSFER_TO_AGENT, transferInstruction } from './transfer.ts'

/** What the runner adds to a tree. */
export interface TreeOptions {
  /** A model for a name; throws when nobody answers to it. */
  resolveModel(name: string, agentName: string): Model
  /** The plugins' callbacks; they come before the agents' own. */
  readonly plugins: readonly Callbacks[]
  /** For agents without a model of their own, up to the root. */
  readonly model?: Model | undefined
}

/** Everything about one LlmAgent that does not change from call to call. */
export interface AgentPlan {
  readonly agent: LlmAgent
  readonly model: Model
  readonly hooks: Hooks
  /** Its own tools and those the framework adds. */
  readonly table: ToolTable
  /** What answers the code it writes. */
  readonly code: ToolEntry | undefined
  readonly reachable: readonly Agent[]
  readonly globalInstruction: Instruction | undefined
  /** What the framework adds to its instruction: whom it can hand over to, how its code is run. */
  readonly addedInstruction: string
  /** The whole system instruction when it never changes. */
  readonly constantInstruction: { readonly text: string } | undefined
  /** How a structured answer is asked for. */
  readonly output: OutputMode
}

const NO_PLUGINS: readonly Callbacks[] = []

/** One agent and all below it. An agent tool's child has a tree of its own. */
export class AgentTree {
  readonly root: Agent
  readonly #options: TreeOptions
  readonly #parents: Map<Agent, Agent> = new Map()
  readonly #plans: Map<LlmAgent, AgentPlan> = new Map()
  readonly #children: Map<Agent, AgentTree[]> = new Map()
  readonly #hooks: Map<Agent, Hooks> = new Map()

  constructor(root: Agent, options: TreeOptions) {
    this.root = root
    this.#options = options
    this.#adopt(root, [])
  }

  /** Makes everything ready that can be, so that mistakes show now and not in the middle of a run. */
  prepare(above: readonly Agent[] = []): void {
    if (above.includes(this.root)) {
      const names = [...above, this.root].map(({ name }) => name).join(' -> ')
      throw new ToolwrightError('INVALID_CONFIG', `Agents call each other as tools in a circle: ${names}.`)
    }
    for (const agent of this.agents()) {
      if (!(agent instanceof LlmAgent)) continue
      const { table, model } = this.plan(agent)
      for (const { tool } of table.entries.values()) {
        const mark = agentToolSettings(tool)
        if (mark) this.treeForTool(mark, model).prepare([...above, this.root])
      }
    }
  }

  agents(): Agent[] {
    return [this.root, ...this.#parents.keys()]
  }

  parentOf(agent: Agent): Agent | undefined {
    return this.#parents.get(agent)
  }

  /** An agent of this tree by name: the nearest below `from`, else anywhere. */
  find(name: string, from: Agent = this.root): Agent | undefined {
    return findBelow(from, name) ?? findBelow(this.root, name)
  }

  /** The callbacks around any agent, workflow and custom ones included. */
  hooks(agent: Agent): Hooks {
    let hooks = this.#hooks.get(agent)
    if (!hooks) {
      const own = agent instanceof LlmAgent ? [agent.options] : []
      hooks = hooksOf([...this.#options.plugins, ...own])
      this.#hooks.set(agent, hooks)
    }
    return hooks
  }

  plan(agent: LlmAgent): AgentPlan {
    let plan = this.#plans.get(agent)
    if (!plan) {
      plan = this.#makePlan(agent)
      this.#plans.set(agent, plan)
    }
    return plan
  }

  /** The tree of an agent tool's child, called by an agent with this model. */
  treeForTool(mark: AgentToolSettings, model: Model | undefined): AgentTree {
    const { agent, includePlugins } = mark
    const plugins = includePlugins ? this.#options.plugins : NO_PLUGINS
    const known = this.#children.get(agent) ?? []
    let tree = known.find((one) => one.#options.model === model && one.#options.plugins === plugins)
    if (!tree) {
      tree = new AgentTree(agent, { ...this.#options, plugins, model })
      this.#children.set(agent, [...known, tree])
    }
    return tree
  }

  #adopt(agent: Agent, above: readonly Agent[]): void {
    checkAgentName(agent.name)
    if (agent instanceof LlmAgent) agent.attach(() => this.plan(agent).table)
    if (above.includes(agent)) {
      const names = [...above, agent].map(({ name }) => name).join(' -> ')
      throw new ToolwrightError('INVALID_CONFIG', `The agent tree has a circle: ${names}.`)
    }
    const names = new Set<string>()
    for (const child of subAgentsOf(agent)) {
      if (names.has(child.name)) {
        throw new ToolwrightError('INVALID_CONFIG', `"${agent.name}" has two sub-agents named "${child.name}".`)
      }
      names.add(child.name)
      const other = this.#parents.get(child)
      if (other) {
        throw new ToolwrightError(
          'INVALID_CONFIG',
          `Agent "${child.name}" is in the tree twice, below "${other.name}" and below "${agent.name}". Make two agents of it.`,
        )
      }
      this.#adopt(child, [...above, agent])
      this.#parents.set(child, agent)
    }
  }

  #makePlan(agent: LlmAgent): AgentPlan {
    const model = this.#modelOf(agent)
    const byHand = agent.table.entries.has(TRANSFER_TO_AGENT)
    const reachable = this.#reachable(agent, byHand)
    const transferTo = byHand ? [] : reachable
    const output = chooseOutputMode(agent.output, transferTo.length > 0 || agent.hasTools, model)
    const added = addedTools({ transferTo, output: agent.output, mode: output })
    const table = fitServerTools(agent.tableWith(added), model, agent.name)
    const { codeExecutor } = agent.options
    const told = joinParagraphs([
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
      addedInstruction: told,
      constantInstruction:
        constants[0] && constants[1]
          ? { text: joinParagraphs([constants[0].text, constants[1].text, told]) }
          : undefined,
      output,
    }
  }

  #modelOf(agent: LlmAgent): Model {
    for (let one: Agent | undefined = agent; one; one = this.parentOf(one)) {
      const model = one instanceof LlmAgent ? one.model : undefined
      if (typeof model === 'string') return this.#options.resolveModel(model, one.name)
      if (model) return model
    }
    if (this.#options.model) return this.#options.model
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Agent "${agent.name}" has no model, and no agent above it has one. Give it one: new LlmAgent({ model, ... }).`,
    )
  }

  /** Sub-agents, the parent and the peers; the whole tree when the tool was attached by hand. */
  #reachable(agent: LlmAgent, byHand: boolean): readonly Agent[] {
    const { disableTransfer, disallowTransferToParent, disallowTransferToPeers } = agent.options
    if (disableTransfer) return []
    if (byHand) return this.agents().filter((other) => other !== agent)
    const parent = this.parentOf(agent)
    const near: Agent[] = [...agent.subAgents]
    if (parent instanceof LlmAgent) {
      if (!disallowTransferToParent) near.push(parent)
      if (!disallowTransferToPeers) near.push(...parent.subAgents.filter((other) => other !== agent))
    }
    return near
  }
}

/** Paragraphs of a system instruction, those that are there. */
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

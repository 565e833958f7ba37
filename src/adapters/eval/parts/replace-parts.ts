// Makes an agent with other models and tools. Everything else stays as it is: instructions, callbacks, gates, policies, sub-agents.
import { ToolwrightError } from '../../../core/error/error.ts'
import { type Agent, type InvocationContext, RUN_SCOPE, subAgentsOf } from '../../../engine/agent/agents/agent.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../../../engine/agent/agents/workflow.ts'
import type { DynamicTools } from '../../../engine/agent/request/list-tools.ts'
import type { ReadonlyContext } from '../../../engine/context/context.ts'
import type { Model } from '../../../engine/model/model.ts'
import type { CodeExecutor } from '../../../engine/tool/code-executor.ts'
import { toolOfFunction } from '../../../engine/tool/define-tool.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import { isTool, type Tool } from '../../../engine/tool/tool.ts'
import { AGENT } from '../../../engine/tool/tool-marks.ts'
import { hasKey, keyOfSource, listSources, type ToolSource, toolSource } from '../../../engine/tool/tool-source.ts'
import { isToolset, type Toolset } from '../../../engine/tool/toolset.ts'
import { replaceInnermost, wrapToolset } from '../../../engine/tool/wrap-toolset.ts'

/** What is replaced. */
export interface Replacements {
  /** The model of an agent that has one of its own. */
  model(given: Model | string, agent: string): Model
  /** A tool that the model can call. Agent tools are not passed: their agents are replaced. */
  tool(given: Tool): Tool
  /** A toolset. Filters and prefixes around it stay as they are. Default: the toolset. */
  toolset?(given: Toolset): Toolset
  /** What runs code. Default: the executor. */
  code?(given: CodeExecutor): CodeExecutor
}

/** A copy of an agent, and of all agents below it, with replaced parts. */
export function replaceParts(agent: Agent, by: Replacements): Agent {
  return new Copier(by).agent(agent, [])
}

class Copier {
  readonly #by: Replacements
  readonly #agents: Map<Agent, Agent> = new Map()
  /** A tool keeps its copy: a list that is listed again counts as unchanged. */
  readonly #tools: WeakMap<Tool, Tool> = new WeakMap()

  constructor(by: Replacements) {
    this.#by = by
  }

  /** `above`: agents that are being copied. A cycle is left for the runner, which refuses it. */
  agent(given: Agent, above: readonly Agent[]): Agent {
    const known = this.#agents.get(given)
    if (known || above.includes(given)) return known ?? given
    const made = this.#copy(given, [...above, given])
    this.#agents.set(given, made)
    return made
  }

  #copy(agent: Agent, above: readonly Agent[]): Agent {
    const subAgents = subAgentsOf(agent).map((child) => this.agent(child, above))
    const { name, description } = agent
    if (isExactly(agent, LlmAgent)) return this.#copyLlmAgent(agent, subAgents, above)
    if (agent instanceof LlmAgent) throw noSubclass(agent)
    if (isExactly(agent, SequentialAgent)) return new SequentialAgent({ name, description, subAgents })
    if (isExactly(agent, ParallelAgent)) return new ParallelAgent({ name, description, subAgents })
    if (isExactly(agent, LoopAgent))
      return new LoopAgent({ name, description, subAgents, maxIterations: agent.maxIterations })
    const run = (context: InvocationContext): ReturnType<Agent['run']> => agent.run(this.#forward(context, above))
    return { name, description, ...(agent.subAgents && { subAgents }), run }
  }

  #copyLlmAgent(given: LlmAgent, subAgents: readonly Agent[], above: readonly Agent[]): LlmAgent {
    const { options, model, table, dynamicTools, name } = given
    const { codeExecutor } = options
    return new LlmAgent({
      ...options,
      subAgents,
      ...(model !== undefined && { model: this.#by.model(model, name) }),
      ...(codeExecutor && this.#by.code && { codeExecutor: this.#by.code(codeExecutor) }),
      tools: [
        ...Array.from(table.tools.values(), (tool) => this.#tool(tool, above)),
        ...dynamicTools.map((source) => this.#source(source, above)),
      ],
    })
  }

  #tool(given: Tool, above: readonly Agent[]): Tool {
    let made = this.#tools.get(given)
    if (!made) {
      made = this.#copyTool(given, above)
      this.#tools.set(given, made)
    }
    return made
  }

  #copyTool(given: Tool, above: readonly Agent[]): Tool {
    const settings = agentToolSettings(given)
    if (!settings) return given.declaration() ? this.#by.tool(given) : given
    const { agent, model } = settings
    const replaced = {
      ...settings,
      agent: this.agent(agent, above),
      ...(model && { model: this.#by.model(model, agent.name) }),
    }
    return overrideTool(given, { [AGENT]: replaced })
  }

  #source(given: DynamicTools, above: readonly Agent[]): ToolSource {
    if (!isToolset(given)) {
      const list = async (context: ReadonlyContext): Promise<ToolSource> =>
        this.#listed(await listSources(given, context), above)
      const key = (context: ReadonlyContext): string => String(keyOfSource(given, context))
      return toolSource(list, { name: given.name, ...(hasKey(given) && { key }) })
    }
    const replaced = replaceInnermost(given, (inner) => this.#by.toolset?.(inner) ?? inner)
    return wrapToolset(replaced, async (inner, context) =>
      (await inner.listTools(context)).map((tool) => this.#tool(tool, above)),
    )
  }

  #listed(given: ToolSource, above: readonly Agent[]): ToolSource {
    if (Array.isArray(given)) return given.map((one: ToolSource) => this.#listed(one, above))
    if (isTool(given)) return this.#tool(given, above)
    if (typeof given === 'function') return this.#tool(toolOfFunction(given, 'The tools of a source'), above)
    return this.#source(given as DynamicTools, above) // a list, a tool and a function are dealt with
  }

  /** The context of a custom agent, whose `child.run(context)` runs the copy of the child. */
  #forward(context: InvocationContext, above: readonly Agent[]): InvocationContext {
    return new Proxy(context, {
      get: (target, key) => {
        if (key === RUN_SCOPE) return (child: Agent) => target[RUN_SCOPE](this.agent(child, above))
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
}

/** Is it an instance of this class and of no subclass? */
function isExactly<T extends Agent>(agent: Agent, type: abstract new (...args: never) => T): agent is T {
  return Object.getPrototypeOf(agent) === type.prototype
}

function noSubclass({ name }: Agent): ToolwrightError {
  const problem = `Agent "${name}" is an instance of a subclass of LlmAgent, whose model and tools cannot be replaced`
  return new ToolwrightError('INVALID_CONFIG', `${problem}. Use LlmAgent itself, or evaluate the agent with --live.`)
}

import { systemPorts } from '../../../core/base/ports.ts'
import { showAs } from '../../../core/base/show-as.ts'
import type { Event } from '../../../core/event/event.ts'
import { type CompiledSchema, compileSchema } from '../../../core/schema/compile.ts'
import type { InferOutput, Schema } from '../../../core/schema/schema-types.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import { makeToolTable, type SourcedTool, type ToolTable } from '../../dispatch/resolve.ts'
import type { Model } from '../../model/model.ts'
import { serverToolOf } from '../../tool/server-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import { KeptToolsets } from '../request/kept-toolsets.ts'
import { type DynamicTools, flattenSources, listTools } from '../request/list-tools.ts'
import { addedTools, chooseOutputMode } from './added-tools.ts'
import { type Agent, type InvocationContext, RUN_SCOPE, shownAgent } from './agent.ts'
import { checkLlmAgentOptions, type LlmAgentOptions } from './llm-agent-options.ts'
import { TRANSFER_TO_AGENT, withTransferTargets } from './transfer.ts'

/** The type of an agent's answer: that of its `outputSchema`, or `unknown` without one. */
type OutputOf<S> = S extends Schema ? InferOutput<S> : unknown

/**
 * An agent with a model. The model calls tools, sees their results and continues until it answers.
 *
 * @example
 * const agent = new LlmAgent({ name: 'weather', model, instruction: 'Answer in one sentence.', tools: [getWeather] })
 */
export class LlmAgent<const S extends Schema | undefined = Schema | undefined> implements Agent<OutputOf<S>> {
  readonly name: string
  readonly description: string | undefined
  readonly subAgents: readonly Agent[]
  /** The model or its name. Undefined: the model of the parent agent. */
  readonly model: Model | string | undefined
  /** The options the agent was built with. */
  readonly options: LlmAgentOptions<S>
  /** Most model calls of this agent in one invocation. */
  readonly maxIterations: number
  /** @internal Tools that do not depend on the context. */
  readonly table: ToolTable
  /** @internal Toolsets and sources whose tools depend on the context. */
  readonly dynamicTools: readonly DynamicTools[]
  /** @internal The compiled `inputSchema`. */
  readonly input: CompiledSchema | undefined
  /** @internal The compiled `outputSchema`. */
  readonly output: CompiledSchema | undefined
  declare readonly $output?: OutputOf<S>
  #attached: (() => ToolTable) | undefined
  /** The toolsets that dynamic sources returned to `listTools()`. A runner has its own. */
  readonly #kept: KeptToolsets = new KeptToolsets()

  static {
    showAs(LlmAgent.prototype, 'LlmAgent', (agent) => ({
      ...shownAgent(agent),
      model: typeof agent.model === 'string' ? agent.model : agent.model?.name,
      tools: [...agent.table.entries.keys(), ...agent.dynamicTools.map(({ name }) => name)],
    }))
  }

  constructor(options: LlmAgentOptions<S>) {
    checkLlmAgentOptions(options)
    const source = `agent "${options.name}"`
    this.name = options.name
    this.description = options.description
    this.subAgents = options.subAgents ?? []
    this.model = options.model
    this.options = options
    this.maxIterations = options.maxIterations ?? 16
    const given = flattenSources(options.tools ?? [], source)
    this.table = makeToolTable(given.tools)
    this.dynamicTools = given.dynamic
    this.input = options.inputSchema && compileSchema(options.inputSchema, `inputSchema of ${source}`)
    this.output = options.outputSchema && compileSchema(options.outputSchema, `outputSchema of ${source}`)
  }

  run(context: InvocationContext): AsyncIterable<Event> {
    return context[RUN_SCOPE](this)
  }

  /** @internal Whether the agent has tools the model can call. */
  get hasTools(): boolean {
    const { hasDeclarations, processors } = this.table
    return hasDeclarations || this.dynamicTools.length > 0 || processors.some((tool) => serverToolOf(tool))
  }

  /**
   * Lists every tool that the model would see: the agent's own, those of its toolsets, and those the framework adds.
   */
  async listTools(context: ReadonlyContext): Promise<Tool[]> {
    const table = this.#attached?.() ?? this.#tableWithoutRunner()
    const listed = await listTools(this.dynamicTools, table, {
      context,
      kept: this.#kept,
      ports: systemPorts,
      report: (problem) => console.warn(problem),
    })
    return [...listed.entries.values()].flatMap(({ tool, isPassive }) => (isPassive ? [] : [tool]))
  }

  /** @internal Sets the tools of the agent at its position in the runner's tree. */
  attach(table: () => ToolTable): void {
    this.#attached = table
  }

  /** @internal The tools of the agent and additional ones. Its own transfer tool declares the reachable agents. */
  tableWith(more: readonly SourcedTool[], reachable: readonly Agent[] = []): ToolTable {
    const transfer = this.table.tools.get(TRANSFER_TO_AGENT)
    if (more.length === 0 && !transfer) return this.table
    const own = [...this.table.tools.values()].map((tool) => ({
      tool: tool === transfer ? withTransferTargets(tool, reachable) : tool,
      source: `agent "${this.name}"`,
    }))
    return makeToolTable([...own, ...more])
  }

  /** The tools of an agent outside a runner. Its sub-agents are the only known transfer targets. */
  #tableWithoutRunner(): ToolTable {
    const { disableTransfer } = this.options
    const transferTo = disableTransfer || this.table.tools.has(TRANSFER_TO_AGENT) ? [] : this.subAgents
    const model = typeof this.model === 'string' ? undefined : this.model
    const mode = chooseOutputMode(this.output, transferTo.length > 0 || this.hasTools, model)
    return this.tableWith(addedTools({ transferTo, output: this.output, mode }))
  }
}

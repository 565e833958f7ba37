import type { JsonObject } from '../../base/json.ts'
import { systemPorts } from '../../base/ports.ts'
import { makeToolTable, type SourcedTool, type ToolTable } from '../../dispatch/resolve.ts'
import {
  anything,
  checkOptions,
  flag,
  list,
  name,
  type OptionRules,
  oneOf,
  record,
  text,
  textOrCallback,
} from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { type CompiledSchema, compileSchema } from '../../schema/compile.ts'
import type { InferOutput, Schema } from '../../schema/infer.ts'
import { checkCodeExecutor } from '../../tool/check-code-executor.ts'
import type { CodeExecutor } from '../../tool/code-executor.ts'
import type { ReadonlyContext } from '../../tool/context.ts'
import { aiSdkHint, isModel, type Model } from '../../tool/model.ts'
import { serverToolOf } from '../../tool/server-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import type { ToolSource } from '../../tool/tool-source.ts'
import { KeptToolsets } from '../request/kept-toolsets.ts'
import { type DynamicTools, flattenSources, listTools } from '../request/list-tools.ts'
import { addedTools, chooseOutputMode } from './added-tools.ts'
import { type Agent, agents, checkAgentName, type InvocationContext, RUN_SCOPE } from './agent.ts'
import { CALLBACK_RULES, type Callbacks } from './callbacks.ts'
import { TRANSFER_TO_AGENT } from './transfer.ts'

/** Text with `{state}`, `{state?}` and `{artifact.name}` placeholders, or a function that writes it. */
export type Instruction = string | ((context: ReadonlyContext) => string | Promise<string>)

/** Options of `LlmAgent`. */
export interface LlmAgentOptions<S extends Schema | undefined = Schema | undefined> extends Callbacks {
  /** Letters, digits, `_` and `-`; not `user`. Unique among sibling agents. */
  readonly name: string
  /** A model, or a name that `models` of the runner resolves. Default: the model of the parent agent. */
  readonly model?: Model | string | undefined
  /** What the agent does, for other agents that may transfer to it. */
  readonly description?: string | undefined
  /** The system instruction: text with placeholders such as `{city}`, or a function that returns the text. */
  readonly instruction?: Instruction | undefined
  /** An instruction for every agent of the tree. Only that of the root agent is used. */
  readonly globalInstruction?: Instruction | undefined
  /** Tools, toolsets, dynamic sources made by `toolSource()`, and lists of these. Default: none. */
  readonly tools?: readonly ToolSource[] | undefined
  /** Agents this agent can transfer the conversation to. Default: none. */
  readonly subAgents?: readonly Agent[] | undefined
  /** Schema of the arguments when the agent is used as a tool. Default: `{ request: string }`. */
  readonly inputSchema?: Schema | undefined
  /** Schema of the final answer. The answer is JSON and checked; `runner.complete()` returns it as `output`. */
  readonly outputSchema?: S | undefined
  /** State key that the final answer is written to. */
  readonly outputKey?: string | undefined
  /** `none`: the model sees the latest message only, without the history before it. Default `default`. */
  readonly includeContents?: 'default' | 'none' | undefined
  /** Most model calls of this agent in one invocation. Default 16. */
  readonly maxIterations?: number | undefined
  /** Do not let the model transfer to the parent agent. Default false. */
  readonly disallowTransferToParent?: boolean | undefined
  /** Do not let the model transfer to sibling agents. Default false. */
  readonly disallowTransferToPeers?: boolean | undefined
  /** Do not let the model transfer to any agent. Default false. */
  readonly disableTransfer?: boolean | undefined
  /** Runs code that the model writes, as code parts or in fenced blocks, and sends the output back to the model. */
  readonly codeExecutor?: CodeExecutor | undefined
  /** Settings passed to the model unchanged: `temperature`, `safetySettings`, `toolConfig` and others. */
  readonly generateContentConfig?: JsonObject | undefined
  /** How the tool calls of one model reply run: `parallel` (default true), at most `maxConcurrency` (default 8) at a time. */
  readonly toolExecution?:
    | { readonly parallel?: boolean | undefined; readonly maxConcurrency?: number | undefined }
    | undefined
}

const RULES: OptionRules<LlmAgentOptions> = {
  name: anything,
  model: {
    expects: 'a model or the name of one',
    accepts: (value) => (typeof value === 'string' ? value !== '' : isModel(value)),
    hint: aiSdkHint,
  },
  description: text,
  instruction: textOrCallback,
  globalInstruction: textOrCallback,
  tools: {
    ...list,
    hint: (value) =>
      record.accepts(value)
        ? 'Write tools: [first, second]; a record of AI SDK tools is converted by fromAiSdkTools() of "toolwright/ai-sdk".'
        : undefined,
  },
  subAgents: agents,
  inputSchema: anything,
  outputSchema: anything,
  outputKey: name,
  includeContents: oneOf('default', 'none'),
  maxIterations: anything,
  disallowTransferToParent: flag,
  disallowTransferToPeers: flag,
  disableTransfer: flag,
  codeExecutor: record,
  generateContentConfig: record,
  toolExecution: record,
  ...CALLBACK_RULES,
}

const TOOL_EXECUTION_RULES: OptionRules<NonNullable<LlmAgentOptions['toolExecution']>> = {
  parallel: flag,
  maxConcurrency: anything,
}

/** The type of an agent's answer: of its `outputSchema`, else unknown. */
export type OutputOf<S> = S extends Schema ? InferOutput<S> : unknown

/**
 * An agent with a model in charge: the model answers or calls tools until it has answered.
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
  /** For `listTools()`; a runner keeps its own. */
  readonly #kept: KeptToolsets = new KeptToolsets()

  constructor(options: LlmAgentOptions<S>) {
    checkAgentName(options?.name)
    const source = `agent "${options.name}"`
    checkOptions(`Agent "${options.name}"`, options, RULES)
    checkOptions(`toolExecution of ${source}`, options.toolExecution ?? {}, TOOL_EXECUTION_RULES)
    if (options.codeExecutor) checkCodeExecutor(`codeExecutor of ${source}`, options.codeExecutor)
    this.name = options.name
    this.description = options.description
    this.subAgents = options.subAgents ?? []
    this.model = options.model
    this.options = options
    this.maxIterations = positive(options.maxIterations ?? 16, 'maxIterations', options.name)
    positive(options.toolExecution?.maxConcurrency ?? 8, 'toolExecution.maxConcurrency', options.name)
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

  /** Every tool the model would see: the agent's own, those of its toolsets, and what the framework adds. */
  async listTools(context: ReadonlyContext): Promise<Tool[]> {
    const table = this.#attached?.() ?? this.#tableByItself()
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

  /** @internal The tools of the agent and more. */
  tableWith(more: readonly SourcedTool[]): ToolTable {
    if (more.length === 0) return this.table
    const own = [...this.table.tools.values()].map((tool) => ({ tool, source: `agent "${this.name}"` }))
    return makeToolTable([...own, ...more])
  }

  /** Without a runner only its own sub-agents are known. */
  #tableByItself(): ToolTable {
    const { disableTransfer } = this.options
    const transferTo = disableTransfer || this.table.tools.has(TRANSFER_TO_AGENT) ? [] : this.subAgents
    const model = typeof this.model === 'string' ? undefined : this.model
    const mode = chooseOutputMode(this.output, transferTo.length > 0 || this.hasTools, model)
    return this.tableWith(addedTools({ transferTo, output: this.output, mode }))
  }
}

function positive(value: number, what: string, name: string): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new ToolwrightError('INVALID_CONFIG', `${what} of agent "${name}" must be a whole number above 0.`)
}

import type { JsonObject } from '../base/json.ts'
import { makeToolTable, type SourcedTool, type ToolTable } from '../dispatch/resolve.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Event } from '../event/event.ts'
import { type CompiledSchema, compileSchema } from '../schema/compile.ts'
import type { Schema } from '../schema/infer.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import type { Model } from '../tool/model.ts'
import { isTool, type Tool } from '../tool/tool.ts'
import { isToolset, type Toolset } from '../tool/toolset.ts'
import { type Agent, checkAgentName, type InvocationContext, WALK } from './agent.ts'
import type { Callbacks } from './hooks.ts'

/** Text with `{state}`, `{state?}` and `{artifact.name}` placeholders, or a function that writes it. */
export type Instruction = string | ((context: ReadonlyContext) => string | Promise<string>)

/** What an agent's `tools` takes. */
export type ToolSource =
  | Tool
  | Toolset
  | ((context: ReadonlyContext) => ToolSource | Promise<ToolSource>)
  | readonly ToolSource[]

export interface LlmAgentOptions extends Callbacks {
  readonly name: string
  /** A model, or a name the runner's `models` knows; without one the parent's is used. */
  readonly model?: Model | string | undefined
  /** What other agents are told about this one. */
  readonly description?: string | undefined
  readonly instruction?: Instruction | undefined
  /** For every agent of the tree; only the root's counts. */
  readonly globalInstruction?: Instruction | undefined
  readonly tools?: readonly ToolSource[] | undefined
  readonly subAgents?: readonly Agent[] | undefined
  /** The arguments this agent takes when it is used as a tool. */
  readonly inputSchema?: Schema | undefined
  /** The final answer is JSON of this shape, checked. */
  readonly outputSchema?: Schema | undefined
  /** The final answer is written to this state key. */
  readonly outputKey?: string | undefined
  /** `none`: only what was said last, nothing before. */
  readonly includeContents?: 'default' | 'none' | undefined
  /** Model calls in one scope and invocation. Default 16. */
  readonly maxIterations?: number | undefined
  readonly disallowTransferToParent?: boolean | undefined
  readonly disallowTransferToPeers?: boolean | undefined
  readonly disableTransfer?: boolean | undefined
  /** Passed to the model as it is: temperature, safetySettings, toolConfig, ... */
  readonly generateContentConfig?: JsonObject | undefined
  readonly toolExecution?:
    | { readonly parallel?: boolean | undefined; readonly maxConcurrency?: number | undefined }
    | undefined
}

/**
 * An agent with a model in charge: the model answers or calls tools until it has answered.
 *
 * @example
 * const agent = new LlmAgent({ name: 'weather', model, instruction: 'Answer in one sentence.', tools: [getWeather] })
 */
export class LlmAgent implements Agent {
  readonly name: string
  readonly description: string | undefined
  readonly subAgents: readonly Agent[]
  readonly model: Model | string | undefined
  readonly options: LlmAgentOptions
  readonly maxIterations: number
  /** Tools that are always there. */
  readonly table: ToolTable
  /** Tools that depend on who asks. */
  readonly dynamicTools: readonly (Toolset | ((context: ReadonlyContext) => ToolSource | Promise<ToolSource>))[]
  readonly input: CompiledSchema | undefined
  readonly output: CompiledSchema | undefined

  constructor(options: LlmAgentOptions) {
    checkAgentName(options.name)
    this.name = options.name
    this.description = options.description
    this.subAgents = options.subAgents ?? []
    this.model = options.model
    this.options = options
    this.maxIterations = positive(options.maxIterations ?? 16, 'maxIterations', options.name)
    positive(options.toolExecution?.maxConcurrency ?? 8, 'toolExecution.maxConcurrency', options.name)
    const source = `agent "${this.name}"`
    const given = flatten(options.tools ?? [], source)
    this.table = makeToolTable(given.tools)
    this.dynamicTools = given.dynamic
    this.input = options.inputSchema && compileSchema(options.inputSchema, `inputSchema of ${source}`)
    this.output = options.outputSchema && compileSchema(options.outputSchema, `outputSchema of ${source}`)
  }

  run(context: InvocationContext): AsyncIterable<Event> {
    return context[WALK](this)
  }
}

/** Nested arrays become one list: what is a tool now, and what must be asked later. */
export function flatten(
  sources: ToolSource,
  source: string,
): { tools: SourcedTool[]; dynamic: Exclude<ToolSource, Tool | readonly ToolSource[]>[] } {
  const tools: SourcedTool[] = []
  const dynamic: Exclude<ToolSource, Tool | readonly ToolSource[]>[] = []
  const visit = (one: ToolSource, depth: number): void => {
    if (Array.isArray(one) && depth < 32) for (const inner of one) visit(inner, depth + 1)
    else if (isToolset(one)) dynamic.push(one)
    else if (isTool(one)) tools.push({ tool: one, source })
    else if (typeof one === 'function') dynamic.push(one)
    else {
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `The tools of ${source} hold something that is no tool, toolset or function (${one === null ? 'null' : typeof one}). Use tool({ name, description, run }).`,
      )
    }
  }
  visit(sources, 0)
  return { tools, dynamic }
}

function positive(value: number, what: string, name: string): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new ToolwrightError('INVALID_CONFIG', `${what} of agent "${name}" must be a whole number above 0.`)
}

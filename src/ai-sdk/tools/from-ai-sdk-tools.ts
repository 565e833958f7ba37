// Tools written for the AI SDK (5, 6, 7), as tools for agents. Known by what they have: nothing of `ai` is imported.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import { checkOptions, type OptionRules, oneOf, record } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import { compileSchema } from '../../schema/compile.ts'
import type { ToolContext } from '../../tool/context.ts'
import { nameProblem, type Tool } from '../../tool/tool.ts'
import { fromModelOutput } from './model-output.ts'
import { type AiSdkProviderTool, aiSdkProviderTool, toEntry, wireOf } from './provider-tool.ts'
import { type InputSchema, plainSchema, readSchema } from './input-schema.ts'

/** A tool of the AI SDK: what `tool()`, `dynamicTool()` or a provider's `tools.name()` gives. */
export interface AiSdkTool extends AiSdkProviderTool {
  readonly description?: unknown
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly contextSchema?: unknown
  readonly execute?: unknown
  readonly needsApproval?: unknown
  readonly toModelOutput?: unknown
}

export interface FromAiSdkToolsOptions {
  /** What tools with a `contextSchema` get as `context` (`experimental_context` in AI SDK 5 and 6), by tool name. */
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined
  /**
   * A tool without `execute`: refused (the default), or a long-running call whose result is sent later, as a function
   * response in a user's message.
   */
  readonly withoutExecute?: 'refuse' | 'longRunning' | undefined
}

const RULES: OptionRules<FromAiSdkToolsOptions> = {
  toolsContext: record,
  withoutExecute: oneOf('refuse', 'longRunning'),
}

/**
 * Makes tools of the AI SDK tools for agents: validated, gated by their `needsApproval`, cancelled by the run.
 *
 * @example
 * new LlmAgent({ name: 'weather', model, tools: fromAiSdkTools({ getWeather, getCity }) })
 */
export function fromAiSdkTools(
  tools: Readonly<Record<string, AiSdkTool>>,
  options: FromAiSdkToolsOptions = {},
): Tool[] {
  checkOptions('fromAiSdkTools()', options, RULES)
  return Object.entries(tools).map(([name, tool]) => {
    const problem = nameProblem(name)
    if (problem) throw invalid(name, `${problem}.`)
    if (!isRecord(tool)) throw invalid(name, 'it is no tool of the AI SDK.')
    const isProviders = tool.type === 'provider' || tool.type === 'provider-defined'
    if (isProviders && typeof tool.execute !== 'function') return aiSdkProviderTool(tool, { name })
    return convert(name, tool, options, isProviders)
  })
}

function convert(name: string, tool: AiSdkTool, options: FromAiSdkToolsOptions, isProviders: boolean): Tool {
  const { toolsContext = {}, withoutExecute = 'refuse' } = options
  if (tool.contextSchema !== undefined && !Object.hasOwn(toolsContext, name))
    throw invalid(name, `it has a contextSchema: pass { toolsContext: { ${name}: ... } }.`)
  const isLongRunning = typeof tool.execute !== 'function'
  if (isLongRunning && withoutExecute !== 'longRunning')
    throw invalid(
      name,
      "it has no execute. Give it one, or pass { withoutExecute: 'longRunning' } when somebody else sends its result.",
    )
  const context = Object.hasOwn(toolsContext, name) ? toolsContext[name] : undefined
  const input = readInput(name, tool)
  const description = descriptionOf(tool.description, context)
  const declaration: FunctionDeclaration = { name, description, parametersJsonSchema: input.jsonSchema }
  const entry = isProviders ? toEntry(tool, name) : undefined
  const requiresConfirmation = gateOf(name, tool.needsApproval, context)
  return {
    name,
    description,
    declaration: () => declaration,
    parse: input.parse,
    run: (args, call) => (isLongRunning ? { status: 'pending' } : runTool(tool, args, call, context)),
    ...(isLongRunning && { isLongRunning }),
    ...(requiresConfirmation !== undefined && { requiresConfirmation }),
    ...(tool.outputSchema !== undefined && { outputSchema: plainSchema(tool.outputSchema, `Tool "${name}"`) }),
    ...(typeof tool.toModelOutput === 'function' && { toModelOutput: modelOutputOf(tool) }),
    ...(entry && { processLlmRequest: (request) => request.appendWireTool(wireOf(entry)) }),
  }
}

function readInput(name: string, tool: AiSdkTool): InputSchema {
  if (tool.inputSchema === undefined && 'parameters' in tool)
    throw invalid(name, 'it has parameters and no inputSchema, as in AI SDK 4. Rename parameters to inputSchema.')
  return tool.inputSchema === undefined
    ? compileSchema({ type: 'object', properties: {}, additionalProperties: false }, `Tool "${name}"`)
    : readSchema(tool.inputSchema, `Tool "${name}"`)
}

function descriptionOf(description: unknown, context: unknown): string {
  const text: unknown = typeof description === 'function' ? description({ context }) : description
  return typeof text === 'string' ? text : ''
}

/** An approval the tool asks for is asked for here too; an answer that is no clear `false` keeps the gate shut. */
function gateOf(name: string, needsApproval: unknown, context: unknown): Tool['requiresConfirmation'] {
  if (needsApproval === undefined || typeof needsApproval === 'boolean') return needsApproval
  if (typeof needsApproval !== 'function') throw invalid(name, 'needsApproval is a boolean or a function.')
  return async (args) => needsApproval(args, { toolCallId: '', messages: [], context, experimental_context: context })
}

function runTool(tool: AiSdkTool, args: unknown, call: ToolContext, context: unknown): unknown {
  const { functionCallId: toolCallId, signal: abortSignal } = call
  const execute = tool.execute as (input: unknown, options: JsonObject) => unknown // checked when it was converted
  const out = execute.call(tool, args, {
    toolCallId,
    messages: [],
    abortSignal,
    context,
    experimental_context: context,
  })
  return isAsyncIterable(out) ? follow(out) : out
}

/** Each value is progress, the last one the result. */
async function* follow(values: AsyncIterable<unknown>): AsyncGenerator<unknown, unknown> {
  let last: unknown
  for await (const value of values) {
    last = value
    yield value
  }
  return last ?? null
}

function modelOutputOf(tool: AiSdkTool): NonNullable<Tool['toModelOutput']> {
  const toModelOutput = tool.toModelOutput as (given: JsonObject) => unknown // checked by the caller
  return async ({ args, result, functionCallId }) =>
    fromModelOutput(await toModelOutput.call(tool, { toolCallId: functionCallId, input: args, output: result }))
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function invalid(name: string, why: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `Tool "${name}" cannot be used: ${why}`)
}

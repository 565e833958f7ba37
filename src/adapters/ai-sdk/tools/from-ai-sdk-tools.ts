// Converts tools of the AI SDK (5, 6, 7). They are recognised by their fields: nothing is imported from `ai`.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { FunctionDeclaration } from '../../../core/content/content.ts'
import { checkOptions, type OptionRules, oneOf, record } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import type { ToolContext } from '../../../engine/context/context.ts'
import { nameProblem, type Tool } from '../../../engine/tool/tool.ts'
import { type InputSchema, readInputSchema, unwrapSchema } from './input-schema.ts'
import { fromModelOutput } from './model-output.ts'
import { type AiSdkProviderTool, aiSdkProviderTool, toConfigTool, toProviderToolEntry } from './provider-tool.ts'

/** A tool of the AI SDK: the result of `tool()`, `dynamicTool()` or a provider's `tools.name()`. */
export interface AiSdkTool extends AiSdkProviderTool {
  /** A string, or a function of the context. */
  readonly description?: unknown
  /** The schema of the arguments. */
  readonly inputSchema?: unknown
  /** The schema of the result. */
  readonly outputSchema?: unknown
  /** The schema of the context, which `toolsContext` must then contain. */
  readonly contextSchema?: unknown
  /** The body of the tool. */
  readonly execute?: unknown
  /** A boolean or a function; becomes `requiresConfirmation`. */
  readonly needsApproval?: unknown
  /** What the model sees of a result. */
  readonly toModelOutput?: unknown
}

/** Options of `fromAiSdkTools()`. */
export interface FromAiSdkToolsOptions {
  /** The `context` of tools with a `contextSchema` (`experimental_context` in AI SDK 5 and 6), by tool name. Default: none. */
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined
  /**
   * What to do with a tool without `execute`. `refuse` throws INVALID_CONFIG. `longRunning` makes its calls long-running:
   * a client sends the result later, as a function response in a user message. Default `refuse`.
   */
  readonly withoutExecute?: 'refuse' | 'longRunning' | undefined
}

const RULES: OptionRules<FromAiSdkToolsOptions> = {
  toolsContext: record,
  withoutExecute: oneOf('refuse', 'longRunning'),
}

/**
 * Makes tools of the AI SDK usable by agents. Arguments are validated, `needsApproval` becomes a confirmation, and
 * cancelling the run aborts the tool.
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
    if (problem) throw invalidTool(name, `${problem}.`)
    if (!isRecord(tool)) throw invalidTool(name, `got ${kindOf(tool)} instead of a tool of the AI SDK.`)
    const isProviderTool = tool.type === 'provider' || tool.type === 'provider-defined'
    if (isProviderTool && typeof tool.execute !== 'function') return aiSdkProviderTool(tool, { name })
    return convertTool(name, tool, options, isProviderTool)
  })
}

function convertTool(name: string, tool: AiSdkTool, options: FromAiSdkToolsOptions, isProviderTool: boolean): Tool {
  const { toolsContext = {}, withoutExecute = 'refuse' } = options
  if (tool.contextSchema !== undefined && !Object.hasOwn(toolsContext, name))
    throw invalidTool(
      name,
      `it has a contextSchema and no context. Pass { toolsContext: { ${name}: ... } } to fromAiSdkTools().`,
    )
  const isLongRunning = typeof tool.execute !== 'function'
  if (isLongRunning && withoutExecute !== 'longRunning')
    throw invalidTool(
      name,
      "it has no execute. Give it one, or pass { withoutExecute: 'longRunning' } if a client sends its result.",
    )
  const context = Object.hasOwn(toolsContext, name) ? toolsContext[name] : undefined
  const input = readToolInput(name, tool)
  const description = descriptionOf(tool.description, context)
  const declaration: FunctionDeclaration = { name, description, parametersJsonSchema: input.jsonSchema }
  const entry = isProviderTool ? toProviderToolEntry(tool, name) : undefined
  const requiresConfirmation = toConfirmationGate(name, tool.needsApproval, context)
  return {
    name,
    description,
    declaration: () => declaration,
    parse: input.parse,
    run: (args, call) => (isLongRunning ? { status: 'pending' } : runTool(tool, args, call, context)),
    ...(isLongRunning && { isLongRunning }),
    ...(requiresConfirmation !== undefined && { requiresConfirmation }),
    ...(tool.outputSchema !== undefined && { outputSchema: unwrapSchema(tool.outputSchema, `Tool "${name}"`) }),
    ...(typeof tool.toModelOutput === 'function' && { toModelOutput: toModelOutputHook(tool) }),
    ...(entry && { sendsTo: { ...entry } }),
    ...(entry && { processLlmRequest: (request) => request.appendConfigTool(toConfigTool(entry)) }),
  }
}

function readToolInput(name: string, tool: AiSdkTool): InputSchema {
  if (tool.inputSchema === undefined && 'parameters' in tool)
    throw invalidTool(
      name,
      'it has `parameters`, the AI SDK 4 name of `inputSchema`. Rename `parameters` to `inputSchema`.',
    )
  return tool.inputSchema === undefined
    ? compileSchema({ type: 'object', properties: {}, additionalProperties: false }, `Tool "${name}"`)
    : readInputSchema(tool.inputSchema, `Tool "${name}"`)
}

function descriptionOf(description: unknown, context: unknown): string {
  const text: unknown = typeof description === 'function' ? description({ context }) : description
  return typeof text === 'string' ? text : ''
}

/** The `requiresConfirmation` of a tool with `needsApproval`. Dispatch treats every value except `false` as true. */
function toConfirmationGate(name: string, needsApproval: unknown, context: unknown): Tool['requiresConfirmation'] {
  if (needsApproval === undefined || typeof needsApproval === 'boolean') return needsApproval
  if (typeof needsApproval !== 'function')
    throw invalidTool(name, `needsApproval must be a boolean or a function, got ${kindOf(needsApproval)}.`)
  return async (args) => needsApproval(args, { toolCallId: '', messages: [], context, experimental_context: context })
}

function runTool(tool: AiSdkTool, args: unknown, call: ToolContext, context: unknown): unknown {
  const { functionCallId: toolCallId, signal: abortSignal } = call
  const execute = tool.execute as (input: unknown, options: JsonObject) => unknown // convertTool checked it
  const out = execute.call(tool, args, {
    toolCallId,
    messages: [],
    abortSignal,
    context,
    experimental_context: context,
  })
  return isAsyncIterable(out) ? yieldProgress(out) : out
}

/** Yields each value as progress. The last value is the result. */
async function* yieldProgress(values: AsyncIterable<unknown>): AsyncGenerator<unknown, unknown> {
  let last: unknown
  for await (const value of values) {
    last = value
    yield value
  }
  return last ?? null
}

function toModelOutputHook(tool: AiSdkTool): NonNullable<Tool['toModelOutput']> {
  const toModelOutput = tool.toModelOutput as (given: JsonObject) => unknown // convertTool checked it
  return async ({ args, result, functionCallId }) =>
    fromModelOutput(await toModelOutput.call(tool, { toolCallId: functionCallId, input: args, output: result }))
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function invalidTool(name: string, why: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `Tool "${name}" cannot be used: ${why}`)
}

// Tools that a provider defines: it knows them by id, and runs most of them itself.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { checkOptions, text } from '../../error/check-options.ts'
import { ToolwrightError } from '../../error/error.ts'
import { nameProblem, type Tool } from '../../tool/tool.ts'
import type { WireTool } from '../../tool/wire.ts'
import { passive } from '../../tools/request-only-tool.ts'

/** A tool as AI SDK providers give it: `openai.tools.webSearch({ ... })`. */
export interface AiSdkProviderTool {
  /** `provider`, or `provider-defined` in AI SDK 5. */
  readonly type?: string | undefined
  /** `openai.web_search` */
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly args?: unknown
  /** False: the provider defines it, and you run it. */
  readonly isProviderExecuted?: boolean | undefined
}

/** As it stands in a request's `tools`. */
export interface ProviderToolEntry {
  readonly id: string
  readonly name: string
  readonly args: JsonObject
}

/**
 * Gives an agent a tool its provider runs: a web search, a code interpreter. It is offered to the model and never
 * dispatched; what the provider did with it is kept in the log for the provider.
 *
 * @example
 * new LlmAgent({ name: 'news', model: fromAiSdk(openai('gpt-5')), tools: [aiSdkProviderTool(openai.tools.webSearch({}))] })
 */
export function aiSdkProviderTool(tool: AiSdkProviderTool, options: { name?: string | undefined } = {}): Tool {
  checkOptions('aiSdkProviderTool()', options, { name: text })
  const entry = toEntry(tool, options.name)
  if (tool.isProviderExecuted === false)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `"${entry.id}" is defined by the provider and run by you: fromAiSdkTools({ ${entry.name}: tool }) with an execute.`,
    )
  return passive({
    name: entry.name,
    description: `${entry.id}, run by the provider.`,
    processLlmRequest: (request) => request.appendWireTool(wireOf(entry)),
  })
}

/** The entry for a provider's tool; without a name it is called what its provider calls it. */
export function toEntry(tool: AiSdkProviderTool, given?: string | undefined): ProviderToolEntry {
  const { type, id, args = {} } = isRecord(tool) ? tool : ({} as AiSdkProviderTool)
  if ((type !== 'provider' && type !== 'provider-defined') || typeof id !== 'string' || !isRecord(args))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      'aiSdkProviderTool() takes a tool of an AI SDK provider, such as openai.tools.webSearch({}).',
    )
  const name = given ?? tool.name ?? id.slice(id.indexOf('.') + 1)
  const problem = nameProblem(name)
  if (problem) throw new ToolwrightError('INVALID_CONFIG', `Provider tool "${id}", named "${name}": ${problem}.`)
  return { id, name, args }
}

export function wireOf(entry: ProviderToolEntry): WireTool {
  return { providerTool: entry }
}

export function providerToolIn(entry: WireTool): ProviderToolEntry | undefined {
  const { providerTool } = entry as { providerTool?: unknown }
  if (!isRecord(providerTool)) return undefined
  const { id, name, args } = providerTool
  return typeof id === 'string' && typeof name === 'string' && isRecord(args) ? { id, name, args } : undefined
}

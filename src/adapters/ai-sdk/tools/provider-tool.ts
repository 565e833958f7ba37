// Tools that a provider defines and identifies by id. The provider runs most of them itself.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { checkOptions, text } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import { nameProblem, type Tool } from '../../../engine/tool/tool.ts'
import { requestOnlyTool } from '../../tools/request-only-tool.ts'

/** A tool of an AI SDK provider, for example `openai.tools.webSearch({ ... })`. */
export interface AiSdkProviderTool {
  /** `provider`, or `provider-defined` in AI SDK 5. */
  readonly type?: string | undefined
  /** For example `openai.web_search`. */
  readonly id?: string | undefined
  /** The name the model uses. Default: the part of `id` after the dot. */
  readonly name?: string | undefined
  /** The configuration of the tool. */
  readonly args?: unknown
  /** False when the provider only defines the tool and your code runs it. */
  readonly isProviderExecuted?: boolean | undefined
}

/** A provider tool in the `tools` of a request. */
export interface ProviderToolEntry {
  /** For example `openai.web_search`. */
  readonly id: string
  /** The name the model uses. */
  readonly name: string
  /** The configuration of the tool. */
  readonly args: JsonObject
}

/**
 * A tool that the provider of the model runs, for example a web search or a code interpreter. Toolwright never dispatches
 * its calls. The event log keeps the calls and results for the provider. `options.name` is the name the model uses.
 *
 * @example
 * new LlmAgent({ name: 'news', model: fromAiSdk(openai('gpt-5')), tools: [aiSdkProviderTool(openai.tools.webSearch({}))] })
 */
export function aiSdkProviderTool(tool: AiSdkProviderTool, options: { name?: string | undefined } = {}): Tool {
  checkOptions('aiSdkProviderTool()', options, { name: text })
  const entry = toProviderToolEntry(tool, options.name)
  if (tool.isProviderExecuted === false)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `Provider tool "${entry.id}" has no execute, and the provider does not run it. Give it an execute and pass it to fromAiSdkTools({ ${entry.name}: tool }).`,
    )
  return requestOnlyTool({
    name: entry.name,
    description: `${entry.id}, run by the provider.`,
    processLlmRequest: (request) => request.appendConfigTool(toConfigTool(entry)),
  })
}

/** The request entry of a provider tool. Throws INVALID_CONFIG when the value is not a provider tool. */
export function toProviderToolEntry(tool: AiSdkProviderTool, given?: string | undefined): ProviderToolEntry {
  const { type, id, args = {} } = isRecord(tool) ? tool : ({} as AiSdkProviderTool)
  if ((type !== 'provider' && type !== 'provider-defined') || typeof id !== 'string' || !isRecord(args))
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `aiSdkProviderTool() takes a tool of an AI SDK provider, got ${kindOf(tool)}. Pass for example openai.tools.webSearch({}).`,
    )
  const name = given ?? tool.name ?? id.slice(id.indexOf('.') + 1)
  const problem = nameProblem(name)
  if (problem)
    throw new ToolwrightError('INVALID_CONFIG', `Provider tool "${id}" cannot have the name "${name}": ${problem}.`)
  return { id, name, args }
}

/** A provider tool as an entry of `config.tools`. */
export function toConfigTool(entry: ProviderToolEntry): ConfigTool {
  return { providerTool: entry }
}

/** The provider tool in an entry of a request's `tools`, if it is one. */
export function readProviderTool(entry: ConfigTool): ProviderToolEntry | undefined {
  const { providerTool } = entry as { providerTool?: unknown }
  if (!isRecord(providerTool)) return undefined
  const { id, name, args } = providerTool
  return typeof id === 'string' && typeof name === 'string' && isRecord(args) ? { id, name, args } : undefined
}

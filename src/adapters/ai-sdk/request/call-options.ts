// Converts a request to the options of an AI SDK call. Settings the AI SDK does not have (safetySettings) are left out.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { LlmRequestConfig } from '../../../engine/model/llm-request-config.ts'
import type { AiSdkModel, CallOptions, ProviderOptions } from '../ai-sdk-types.ts'
import { type ProviderToolEntry, readProviderTool } from '../tools/provider-tool.ts'
import { offerAnswerTool } from './answer-tool.ts'
import type { PromptTarget } from './media.ts'
import { withObjectRoot } from './object-root.ts'
import { toPrompt } from './prompt.ts'
import { closeObjects, isStrict } from './strict-schema.ts'

/** The model a request is written for, and how to write it. */
interface CallTarget extends PromptTarget {
  /** Whether the model returns its structured output by calling a tool, because the provider sends no schema. */
  readonly usesAnswerTool: boolean
}

/** Options of every request to a model. */
export interface CallDefaults {
  /** Provider options, by provider name. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined
  /** HTTP headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The options of `doGenerate` and `doStream` for a request. */
export function toCallOptions(
  request: LlmRequest,
  { provider }: Pick<AiSdkModel, 'provider'>,
  target: CallTarget,
  defaults: CallDefaults,
): CallOptions {
  const { config } = request
  const given = checkConfig(config)
  const providerOptions = mergeProviderOptions(defaults.providerOptions, given.providerOptions)
  const { names, choice } = toToolChoice(config, target)
  const tools = toTools(config, names, target)
  const answer = target.usesAnswerTool ? config.responseJsonSchema : undefined
  const format = answer ? undefined : toResponseFormat(config)
  const headers = { ...defaults.headers, ...given.headers }
  const options: CallOptions = { ...given.settings, prompt: toPrompt(request, target) }
  if (tools.length) options.tools = tools
  if (tools.length && choice) options.toolChoice = choice
  if (format) options.responseFormat = format.sent
  if (answer) offerAnswerTool(options, answer)
  if (format && !format.isStrict)
    for (const name of strictOptionNames(provider))
      providerOptions[name] = { strictJsonSchema: false, ...providerOptions[name] }
  if (Object.keys(headers).length) options.headers = headers
  if (Object.keys(providerOptions).length) options.providerOptions = providerOptions
  return options
}

const SETTING_TYPES = {
  temperature: 'number',
  topP: 'number',
  topK: 'number',
  maxOutputTokens: 'number',
  seed: 'number',
  presencePenalty: 'number',
  frequencyPenalty: 'number',
  reasoning: 'string',
} as const

interface CheckedConfig {
  readonly settings: Partial<CallOptions>
  readonly providerOptions: ProviderOptions
  readonly headers: Record<string, string>
}

function checkConfig(config: LlmRequestConfig): CheckedConfig {
  const settings: JsonObject = {}
  for (const [name, kind] of Object.entries(SETTING_TYPES)) {
    const value = config[name]
    if (value === undefined) continue
    if (typeof value !== kind) throw invalidSetting(name, `a ${kind}`, value)
    settings[name] = value
  }
  const { stopSequences, providerOptions = {}, headers = {} } = config
  if (stopSequences !== undefined) {
    if (!Array.isArray(stopSequences) || !stopSequences.every((one) => typeof one === 'string'))
      throw invalidSetting('stopSequences', 'a list of strings', stopSequences)
    settings.stopSequences = stopSequences
  }
  if (!isRecord(providerOptions) || !Object.values(providerOptions).every(isRecord))
    throw invalidSetting(
      'providerOptions',
      'an object with one object per provider ({ openai: { ... } })',
      providerOptions,
    )
  if (!isRecord(headers) || !Object.values(headers).every((value) => typeof value === 'string'))
    throw invalidSetting('headers', 'an object with string values', headers)
  // the casts hold because of the checks above
  return { settings, providerOptions: providerOptions as ProviderOptions, headers: headers as Record<string, string> }
}

function invalidSetting(name: string, expected: string, value: unknown): ToolwrightError {
  const message = `generateContentConfig.${name} must be ${expected}, got ${kindOf(value)}.`
  return new ToolwrightError('INVALID_REQUEST', message)
}

function mergeProviderOptions(base: Readonly<Record<string, JsonObject>> = {}, over: ProviderOptions): ProviderOptions {
  const merged: ProviderOptions = { ...base }
  for (const [provider, options] of Object.entries(over)) merged[provider] = { ...merged[provider], ...options }
  return merged
}

/** The tool choice for Gemini's `functionCallingConfig`, and the only tools the model may call. */
function toToolChoice(
  { toolConfig }: LlmRequestConfig,
  target: PromptTarget,
): { names?: readonly unknown[]; choice?: object } {
  const calling = isRecord(toolConfig) ? toolConfig.functionCallingConfig : undefined
  if (!isRecord(calling)) return {}
  const { mode, allowedFunctionNames } = calling
  const names = Array.isArray(allowedFunctionNames) && allowedFunctionNames.length ? allowedFunctionNames : undefined
  const limited = names ? { names } : {}
  if (mode === 'NONE') return { choice: { type: 'none' } }
  if (mode === 'ANY' && names?.length === 1) {
    const toolName = target.names.toProviderName(String(names[0]))
    return { ...limited, choice: { type: 'tool', toolName } }
  }
  if (mode === 'ANY') return { ...limited, choice: { type: 'required' } }
  return mode === 'AUTO' ? { ...limited, choice: { type: 'auto' } } : limited
}

function toTools(
  { tools = [] }: LlmRequestConfig,
  names: readonly unknown[] | undefined,
  { version, label, names: toolNames }: PromptTarget,
): object[] {
  const providers: ProviderToolEntry[] = []
  const functions: object[] = []
  for (const entry of tools) {
    if (entry.functionDeclarations) continue
    const providerTool = readProviderTool(entry)
    if (!providerTool) throw unsupportedServerTool(Object.keys(entry)[0] ?? '?', label)
    providers.push(providerTool)
  }
  for (const { name, description, parametersJsonSchema } of tools.flatMap(
    (entry) => entry.functionDeclarations ?? [],
  )) {
    // a tool that the provider defines and the tool author runs is in both lists
    if ((names && !names.includes(name)) || providers.some((one) => one.name === name)) continue
    const inputSchema = parametersJsonSchema ? withObjectRoot(parametersJsonSchema) : NO_PARAMETERS
    functions.push({ type: 'function', name: toolNames.toProviderName(name), description, inputSchema })
  }
  const type = version === 'v2' ? 'provider-defined' : 'provider'
  return [...functions, ...providers.map(({ id, name, args }) => ({ type, id, name, args }))]
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {}, additionalProperties: false }

function unsupportedServerTool(name: string, label: string): ToolwrightError {
  return new ToolwrightError(
    'INVALID_REQUEST',
    `${label} has no server tool "${name}". Use the tool of its provider instead: aiSdkProviderTool(provider.tools.name()).`,
  )
}

/**
 * The `responseFormat` of the AI SDK. Sets `additionalProperties: false` on the objects of the schema: most providers
 * enforce a schema only with it.
 */
function toResponseFormat({
  responseJsonSchema,
  responseMimeType,
}: LlmRequestConfig): { sent: object; isStrict: boolean } | undefined {
  if (!responseJsonSchema)
    return responseMimeType === 'application/json' ? { sent: { type: 'json' }, isStrict: true } : undefined
  const schema = closeObjects(responseJsonSchema)
  return { sent: { type: 'json', schema }, isStrict: isStrict(schema) }
}

/** The names under which OpenAI-compatible providers read the option `strictJsonSchema`. */
function strictOptionNames(provider: string): string[] {
  const [own = provider] = provider.split('.')
  return /^(openai|azure)\b/.test(own) ? ['openai'] : [own, 'openaiCompatible']
}

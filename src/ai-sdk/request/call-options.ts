// From a request to the options of an AI SDK call. What has no place there (safetySettings, ...) is left out.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import type { LlmRequestConfig } from '../../tool/wire.ts'
import { offerAnswerTool } from './answer-tool.ts'
import { closeObjects, isStrict } from './strict-schema.ts'
import type { Target } from './media.ts'
import { withObjectRoot } from './object-root.ts'
import { toPrompt } from './prompt.ts'
import { type ProviderToolEntry, providerToolIn } from '../tools/provider-tool.ts'
import type { AiSdkModel, Bag, CallOptions } from '../ai-sdk-types.ts'

/** How one request is written. */
export interface Writing extends Target {
  /** The provider sends no response schema: a tool takes the answer. */
  readonly byTool: boolean
}

/** What every call of a model has besides the request. */
export interface CallDefaults {
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export function toCallOptions(
  request: LlmRequest,
  { provider }: Pick<AiSdkModel, 'provider'>,
  target: Writing,
  defaults: CallDefaults,
): CallOptions {
  const { config } = request
  const given = checked(config)
  const providerOptions = mergeBags(defaults.providerOptions, given.providerOptions)
  const { names, choice } = toolChoice(config, target)
  const tools = toTools(config, names, target)
  const answer = target.byTool ? config.responseJsonSchema : undefined
  const format = answer ? undefined : responseFormat(config)
  const headers = { ...defaults.headers, ...given.headers }
  const options: CallOptions = { ...given.settings, prompt: toPrompt(request, target) }
  if (tools.length) options.tools = tools
  if (tools.length && choice) options.toolChoice = choice
  if (format) options.responseFormat = format.wire
  if (answer) offerAnswerTool(options, answer)
  if (format?.isWish)
    for (const name of strictOptions(provider))
      providerOptions[name] = { strictJsonSchema: false, ...providerOptions[name] }
  if (Object.keys(headers).length) options.headers = headers
  if (Object.keys(providerOptions).length) options.providerOptions = providerOptions
  return options
}

const KINDS = {
  temperature: 'number',
  topP: 'number',
  topK: 'number',
  maxOutputTokens: 'number',
  seed: 'number',
  presencePenalty: 'number',
  frequencyPenalty: 'number',
  reasoning: 'string',
} as const

interface Checked {
  readonly settings: Partial<CallOptions>
  readonly providerOptions: Bag
  readonly headers: Record<string, string>
}

function checked(config: LlmRequestConfig): Checked {
  const settings: JsonObject = {}
  for (const [name, kind] of Object.entries(KINDS)) {
    const value = config[name]
    if (value === undefined) continue
    if (typeof value !== kind) throw wrong(name, `a ${kind}`)
    settings[name] = value
  }
  const { stopSequences, providerOptions = {}, headers = {} } = config
  if (stopSequences !== undefined) {
    if (!Array.isArray(stopSequences) || !stopSequences.every((one) => typeof one === 'string'))
      throw wrong('stopSequences', 'a list of strings')
    settings.stopSequences = stopSequences
  }
  if (!isRecord(providerOptions) || !Object.values(providerOptions).every(isRecord))
    throw wrong('providerOptions', 'an object for each provider: { openai: { ... } }')
  if (!isRecord(headers) || !Object.values(headers).every((value) => typeof value === 'string'))
    throw wrong('headers', 'an object of strings')
  // the checks above are what makes these true
  return { settings, providerOptions: providerOptions as Bag, headers: headers as Record<string, string> }
}

function wrong(name: string, expected: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `generateContentConfig.${name} must be ${expected}.`)
}

function mergeBags(base: Readonly<Record<string, JsonObject>> = {}, over: Bag): Bag {
  const merged: Bag = { ...base }
  for (const [provider, options] of Object.entries(over)) merged[provider] = { ...merged[provider], ...options }
  return merged
}

/** Gemini's `functionCallingConfig`: the mode, and the names it may be limited to. */
function toolChoice({ toolConfig }: LlmRequestConfig, target: Target): { names?: readonly unknown[]; choice?: object } {
  const calling = isRecord(toolConfig) ? toolConfig.functionCallingConfig : undefined
  if (!isRecord(calling)) return {}
  const { mode, allowedFunctionNames } = calling
  const names = Array.isArray(allowedFunctionNames) && allowedFunctionNames.length ? allowedFunctionNames : undefined
  const limited = names ? { names } : {}
  if (mode === 'NONE') return { choice: { type: 'none' } }
  if (mode === 'ANY' && names?.length === 1) {
    const toolName = target.names.toSent(String(names[0]))
    return { ...limited, choice: { type: 'tool', toolName } }
  }
  if (mode === 'ANY') return { ...limited, choice: { type: 'required' } }
  return mode === 'AUTO' ? { ...limited, choice: { type: 'auto' } } : limited
}

function toTools(
  { tools = [] }: LlmRequestConfig,
  names: readonly unknown[] | undefined,
  { version, label, names: toolNames }: Target,
): object[] {
  const providers: ProviderToolEntry[] = []
  const functions: object[] = []
  for (const entry of tools) {
    if (entry.functionDeclarations) continue
    const providerTool = providerToolIn(entry)
    if (!providerTool) throw serverTool(Object.keys(entry)[0] ?? '?', label)
    providers.push(providerTool)
  }
  for (const { name, description, parametersJsonSchema } of tools.flatMap(
    (entry) => entry.functionDeclarations ?? [],
  )) {
    // a tool the provider defines and we run stands in both lists
    if ((names && !names.includes(name)) || providers.some((one) => one.name === name)) continue
    const inputSchema = parametersJsonSchema ? withObjectRoot(parametersJsonSchema) : NO_PARAMETERS
    functions.push({ type: 'function', name: toolNames.toSent(name), description, inputSchema })
  }
  const type = version === 'v2' ? 'provider-defined' : 'provider'
  return [...functions, ...providers.map(({ id, name, args }) => ({ type, id, name, args }))]
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {}, additionalProperties: false }

function serverTool(name: string, label: string): ToolwrightError {
  return new ToolwrightError(
    'INVALID_REQUEST',
    `${label} has no server tool "${name}". Give the agent the one of its provider: aiSdkProviderTool(provider.tools.name()).`,
  )
}

/** Objects are closed for every provider: most hold a model to a schema only then, and under which name is not known. */
function responseFormat({
  responseJsonSchema,
  responseMimeType,
}: LlmRequestConfig): { wire: object; isWish: boolean } | undefined {
  if (!responseJsonSchema)
    return responseMimeType === 'application/json' ? { wire: { type: 'json' }, isWish: false } : undefined
  const schema = closeObjects(responseJsonSchema)
  return { wire: { type: 'json', schema }, isWish: !isStrict(schema) }
}

/** Where providers of OpenAI's kind read `strictJsonSchema`: under their own name, or under that of their kind. */
function strictOptions(provider: string): string[] {
  const [own = provider] = provider.split('.')
  return /^(openai|azure)\b/.test(own) ? ['openai'] : [own, 'openaiCompatible']
}

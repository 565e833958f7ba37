import type { JsonObject } from '../base/json.ts'
import { type Ports, portsWith } from '../base/ports.ts'
import { anything, checkOptions, flag, type OptionRules, record, text } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import { sleep, unlessAborted } from '../policy/wait.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import { toAiSdkError } from './errors.ts'
import type { Target } from './files.ts'
import { type CallDefaults, toCallOptions } from './options.ts'
import { toResponse } from './output.ts'
import { pauseBeforeRetry } from './retry.ts'
import type { AiSdkModel, CallOptions } from './spec.ts'
import { streamReply } from './stream.ts'

export interface FromAiSdkOptions extends CallDefaults {
  /** What errors and the runner's `models` call it. Default: the model's id. */
  readonly name?: string | undefined
  /** How often a call is tried again, as long as nothing of the reply was seen. Default 2. */
  readonly maxRetries?: number | undefined
  /** Can it take tools and a response schema in one request? Default: what is known of the provider, else no. */
  readonly toolsWithOutputSchema?: boolean | undefined
  /** Can a tool's result hold media? If not, a user message after it shows them. Default: not for chat completions. */
  readonly mediaInToolResults?: boolean | undefined
  /** Options of every call, by provider; `generateContentConfig.providerOptions` comes on top. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly ports?: Partial<Pick<Ports, 'setTimer' | 'random' | 'now'>> | undefined
}

const RULES: OptionRules<FromAiSdkOptions> = {
  name: text,
  maxRetries: anything,
  toolsWithOutputSchema: flag,
  mediaInToolResults: flag,
  providerOptions: record,
  headers: record,
  ports: record,
}

/**
 * Makes any model of an AI SDK provider a model for agents.
 *
 * @example
 * const agent = new LlmAgent({ name: 'weather', model: fromAiSdk(openai('gpt-5')), tools: [getWeather] })
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  const version = versionOf(model)
  checkOptions('fromAiSdk()', options, RULES)
  checkOptions('fromAiSdk(), ports', options.ports ?? {}, PORT_RULES)
  const { maxRetries = 2, toolsWithOutputSchema = canHaveBoth(model) } = options
  if (!(Number.isInteger(maxRetries) && maxRetries >= 0))
    throw new ToolwrightError('INVALID_CONFIG', 'maxRetries must be a whole number, or 0.')
  const ports = portsWith(options.ports)
  const mediaInResults = options.mediaInToolResults ?? !model.provider.endsWith('.chat')
  const label = `${model.modelId} (${model.provider})`
  return {
    name: options.name ?? model.modelId,
    ...(toolsWithOutputSchema && { capabilities: { toolsWithOutputSchema } }),
    async *generate(request, { signal = new AbortController().signal, stream = false }) {
      const target: Target = { version, label, mediaInResults, supportedUrls: (await model.supportedUrls) ?? {} }
      const call = { ...toCallOptions(request, model, target, options), abortSignal: signal }
      const isStructured = request.config.responseJsonSchema !== undefined
      for (let attempt = 0, isSeen = false; ; attempt++) {
        try {
          for await (const response of ask(model, call, { stream, isStructured, signal })) {
            isSeen = true
            yield response
          }
          return
        } catch (thrown) {
          if (signal.aborted) throw signal.reason
          const error = toAiSdkError(thrown, model, ports.now)
          const pause = pauseBeforeRetry(error, attempt, ports.random)
          if (isSeen || attempt >= maxRetries || pause === undefined) throw error
          await sleep(pause, signal, ports)
        }
      }
    },
  }
}

/** `call` is written for the model's version, which is what its type cannot say. */
async function* ask(
  model: AiSdkModel,
  call: CallOptions,
  { stream, isStructured, signal }: { stream: boolean; isStructured: boolean; signal: AbortSignal },
): AsyncGenerator<LlmResponse> {
  if (stream) {
    const reply = await unlessAborted(Promise.resolve(model.doStream(call as never)), signal)
    yield* streamReply(reply.stream, model, isStructured, signal)
  } else {
    const result = await unlessAborted(Promise.resolve(model.doGenerate(call as never)), signal)
    yield toResponse(result, model, isStructured)
  }
}

const VERSIONS = ['v2', 'v3', 'v4'] as const

function versionOf(model: AiSdkModel): (typeof VERSIONS)[number] {
  if (typeof model !== 'object' || model === null || typeof model.doGenerate !== 'function')
    throw new ToolwrightError(
      'INVALID_CONFIG',
      'fromAiSdk() takes a model of an AI SDK provider, such as openai(\'gpt-5\') of "@ai-sdk/openai"; a name alone will not do.',
    )
  const version = VERSIONS.find((one) => one === model.specificationVersion)
  if (version) return version
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `The model "${model.modelId}" has specificationVersion "${model.specificationVersion}"; fromAiSdk() knows ${VERSIONS.join(', ')}. Use a matching version of its provider package.`,
  )
}

/** Only where it is known to work: otherwise a tool takes the answer, which works everywhere. */
function canHaveBoth({ provider, modelId, specificationVersion }: AiSdkModel): boolean {
  if (/^(openai|azure)\b/.test(provider)) return true
  // older Anthropic providers drop the tools, older Gemini models refuse the request
  if (specificationVersion !== 'v4') return false
  if (/^anthropic\b/.test(provider)) return true
  return /^google\b/.test(provider) && /^(models\/)?gemini-(?:[3-9]|\d\d)/.test(modelId)
}

import type { JsonObject } from '../../core/base/json.ts'
import { type Ports, withSystemPorts } from '../../core/base/ports.ts'
import type { Part } from '../../core/content/content.ts'
import { checkOptions, flag, type OptionRules, record, text, wholeNumber } from '../../core/error/check-options.ts'
import { PORT_RULES } from '../../core/error/port-rules.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { LlmResponse, Model } from '../../engine/model/model.ts'
import { sleep, unlessAborted } from '../../engine/policy/wait.ts'
import type { AiSdkModel, CallOptions } from './ai-sdk-types.ts'
import { replyTimeoutError } from './errors/ai-sdk-error.ts'
import { retryDelayMs } from './errors/retry-delay.ts'
import { toAiSdkError } from './errors/to-ai-sdk-error.ts'
import { isSchemaRejection, UnsupportedByProvider, unsupportedFeature } from './errors/unsupported.ts'
import { providerName } from './provider-name.ts'
import { checkWarnings, type ReplyContext, toResponse } from './reply/response.ts'
import { streamReply } from './reply/stream-reply.ts'
import { type CallDefaults, toCallOptions } from './request/call-options.ts'
import { type MediaPlacement, NEXT_PLACEMENT } from './request/media.ts'
import { ToolNames } from './request/tool-names.ts'
import { RequestDeadline } from './request-deadline.ts'
import { readVersion } from './specification-version.ts'

/** Options of `fromAiSdk()`. */
export interface FromAiSdkOptions extends CallDefaults {
  /** Name of the model in errors and in the `models` option of the runner. Default: the model's `modelId`. */
  readonly name?: string | undefined
  /** Maximum number of retries of a failed request. A request is only retried before its first output. Default 2. */
  readonly maxRetries?: number | undefined
  /**
   * Whether one request can have both tools and a response schema. If not, the model returns its structured output by
   * calling a tool. Default: true for providers known to support it, otherwise false.
   */
  readonly toolsWithOutputSchema?: boolean | undefined
  /**
   * Whether tool results can contain media. `false` sends media in a user message after the results. Default: images
   * are sent in the result if the provider supports it, other media in a user message.
   */
  readonly mediaInToolResults?: boolean | undefined
  /** Time limit of one request in milliseconds, until its reply is complete. Default: no limit of its own. */
  readonly timeoutMs?: number | undefined
  /** Provider options of every request, by provider. `generateContentConfig.providerOptions` overrides them. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined
  /** HTTP headers of every request. `generateContentConfig.headers` overrides them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Timer, clock and random numbers of retries and timeouts, for tests. Default: those of the system. */
  readonly ports?: Partial<Pick<Ports, 'setTimer' | 'random' | 'now'>> | undefined
}

const RULES: OptionRules<FromAiSdkOptions> = {
  name: text,
  maxRetries: wholeNumber(0),
  toolsWithOutputSchema: flag,
  mediaInToolResults: flag,
  timeoutMs: wholeNumber(1),
  providerOptions: record,
  headers: record,
  ports: record,
}

/**
 * Makes a model of an AI SDK provider usable by agents.
 *
 * @example
 * const agent = new LlmAgent({ name: 'weather', model: fromAiSdk(openai('gpt-5')), tools: [getWeather] })
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  const version = readVersion(model)
  checkOptions('fromAiSdk()', options, RULES)
  checkOptions('fromAiSdk(), ports', options.ports ?? {}, PORT_RULES)
  const { maxRetries = 2, toolsWithOutputSchema = supportsToolsWithSchema(model), timeoutMs } = options
  const ports = withSystemPorts(options.ports)
  const label = `${model.modelId} (${model.provider})`
  // what earlier requests have shown that the provider supports
  let knownPlacement = initialPlacement(options.mediaInToolResults)
  let supportsSchema = true
  return {
    name: options.name ?? model.modelId,
    provider: providerName(model.provider),
    ...(toolsWithOutputSchema && { capabilities: { toolsWithOutputSchema } }),
    async *generate(request, { signal = new AbortController().signal, stream = false }) {
      const supportedUrls = (await model.supportedUrls) ?? {}
      const names = new ToolNames(request)
      const schema = request.config.responseJsonSchema
      let media = knownPlacement
      let usesAnswerTool = !supportsSchema
      for (let attempt = 0, hasOutput = false; ; attempt++) {
        const target = { version, label, supportedUrls, names, media, usesAnswerTool }
        const reply = { model, names, schema, usesAnswerTool }
        const deadline = new RequestDeadline(signal, timeoutMs, () => replyTimeoutError(model, timeoutMs ?? 0), ports)
        try {
          const call = { ...toCallOptions(request, model, target, options), abortSignal: deadline.signal }
          for await (const response of sendRequest(call, reply, stream)) {
            hasOutput = true
            yield response
          }
          return
        } catch (thrown) {
          if (signal.aborted) throw signal.reason
          const unsupported = hasOutput ? undefined : unsupportedFeature(thrown)
          const nextPlacement = NEXT_PLACEMENT[media]
          if (!hasOutput && schema && !usesAnswerTool && (unsupported === 'schema' || isSchemaRejection(thrown))) {
            usesAnswerTool = true
            // a warning applies to every request to the provider, a rejection perhaps only to this schema
            if (unsupported === 'schema') supportsSchema = false
          } else if (unsupported === 'media' && nextPlacement && hasResultMedia(request)) {
            media = nextPlacement
            // `UnsupportedByProvider` applies to every request to the provider, a rejection perhaps only to this media
            if (thrown instanceof UnsupportedByProvider) knownPlacement = 'user-message'
          } else {
            const error = toAiSdkError(thrown, model, ports.now)
            const delayMs = retryDelayMs(error, attempt, ports.random)
            if (hasOutput || attempt >= maxRetries || delayMs === undefined) throw error
            await sleep(delayMs, signal, ports)
            continue
          }
          attempt-- // a request that is written differently is not a retry
        } finally {
          deadline.clear()
        }
      }
    },
  }
}

function initialPlacement(mediaInToolResults: boolean | undefined): MediaPlacement {
  if (mediaInToolResults === undefined) return 'images-in-result'
  return mediaInToolResults ? 'all-in-result' : 'user-message'
}

/** Sends one request. The casts hold because `call` is written for the model's specification version. */
async function* sendRequest(
  call: CallOptions & { abortSignal: AbortSignal },
  reply: ReplyContext,
  stream: boolean,
): AsyncGenerator<LlmResponse> {
  const { model } = reply
  const { abortSignal: signal } = call
  if (stream) {
    const request = Promise.resolve(model.doStream({ ...call, includeRawChunks: true } as never))
    const result = await unlessAborted(request, signal)
    yield* streamReply(result.stream, reply, signal)
  } else {
    const result = await unlessAborted(Promise.resolve(model.doGenerate(call as never)), signal)
    checkWarnings(reply, result.warnings)
    yield toResponse(result, reply)
  }
}

/** Whether a tool result in the request contains media. */
function hasResultMedia({ contents }: LlmRequest): boolean {
  const isMedia = ({ inlineData, fileData }: Part): boolean => Boolean(inlineData ?? fileData)
  return contents.some(
    ({ role, parts }) =>
      (role === 'tool' && parts.some(isMedia)) || parts.some((part) => part.functionResponse?.parts?.some(isMedia)),
  )
}

/**
 * Whether one request can have tools and a response schema. True only for providers known to support both. The
 * fallback, an answer tool, works with every provider.
 */
function supportsToolsWithSchema({ provider, modelId, specificationVersion }: AiSdkModel): boolean {
  if (/^(openai|azure)\b/.test(provider)) return true
  // older Anthropic providers drop the tools, older Gemini models reject the request
  if (specificationVersion !== 'v4') return false
  if (/^anthropic\b/.test(provider)) return true
  return /^google\b/.test(provider) && /^(models\/)?gemini-(?:[3-9]|\d\d)/.test(modelId)
}

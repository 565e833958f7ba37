import type { JsonObject } from '../base/json.ts'
import { type Ports, portsWith } from '../base/ports.ts'
import type { Part } from '../content/content.ts'
import { anything, checkOptions, flag, type OptionRules, record, text, wholeNumber } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import { sleep, unlessAborted } from '../policy/wait.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import { Deadline } from './request-deadline.ts'
import { late, toAiSdkError } from './errors/to-ai-sdk-error.ts'
import { type MediaPlace, NEXT_PLACE } from './request/media.ts'
import { type CallDefaults, toCallOptions } from './request/call-options.ts'
import { checkWarnings, type Reading, toResponse } from './reply/response.ts'
import { pauseBeforeRetry } from './errors/retry-delay.ts'
import type { AiSdkModel, CallOptions } from './ai-sdk-types.ts'
import { streamReply } from './reply/stream.ts'
import { ToolNames } from './request/tool-names.ts'
import { refusesSchema, Unfit, unfitIn } from './errors/unsupported.ts'

export interface FromAiSdkOptions extends CallDefaults {
  /** What errors and the runner's `models` call it. Default: the model's id. */
  readonly name?: string | undefined
  /** How often a call is tried again, as long as nothing of the reply was seen. Default 2. */
  readonly maxRetries?: number | undefined
  /** Can it take tools and a response schema in one request? Default: what is known of the provider, else no. */
  readonly toolsWithOutputSchema?: boolean | undefined
  /**
   * Can a tool's result hold media? If not, a user message after it shows them. Default: pictures stand in the result
   * where the provider takes them, everything else in a user message.
   */
  readonly mediaInToolResults?: boolean | undefined
  /** How long one request may take until its reply is complete. Default: no limit but the run's. */
  readonly timeoutMs?: number | undefined
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
  timeoutMs: wholeNumber(1),
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
  const label = `${model.modelId} (${model.provider})`
  const { mediaInToolResults, timeoutMs } = options
  // what the provider turned out not to carry, for later requests
  let place: MediaPlace = mediaInToolResults === undefined ? 'result' : mediaInToolResults ? 'inside' : 'message'
  let sendsSchema = true
  return {
    name: options.name ?? model.modelId,
    ...(toolsWithOutputSchema && { capabilities: { toolsWithOutputSchema } }),
    async *generate(request, { signal = new AbortController().signal, stream = false }) {
      const supportedUrls = (await model.supportedUrls) ?? {}
      const names = new ToolNames(request)
      const schema = request.config.responseJsonSchema
      let media = place
      let byTool = !sendsSchema
      for (let attempt = 0, isSeen = false; ; attempt++) {
        const target = { version, label, supportedUrls, names, media, byTool }
        const reading = { model, names, schema, byTool }
        const deadline = new Deadline(signal, timeoutMs, () => late(model, timeoutMs ?? 0), ports)
        try {
          const call = { ...toCallOptions(request, model, target, options), abortSignal: deadline.signal }
          for await (const response of ask(call, reading, stream)) {
            isSeen = true
            yield response
          }
          return
        } catch (thrown) {
          if (signal.aborted) throw signal.reason
          const unfit = isSeen ? undefined : unfitIn(thrown)
          const nextPlace = NEXT_PLACE[media]
          if (!isSeen && schema && !byTool && (unfit === 'schema' || refusesSchema(thrown))) {
            byTool = true
            // a warning is about the provider, a refusal perhaps about this schema
            if (unfit === 'schema') sendsSchema = false
          } else if (unfit === 'media' && nextPlace && hasResultMedia(request)) {
            media = nextPlace
            // it has no media in results at all; another refusal is about this request
            if (thrown instanceof Unfit) place = 'message'
          } else {
            const error = toAiSdkError(thrown, model, ports.now)
            const pause = pauseBeforeRetry(error, attempt, ports.random)
            if (isSeen || attempt >= maxRetries || pause === undefined) throw error
            await sleep(pause, signal, ports)
            continue
          }
          attempt-- // nothing failed: the request is written in another way
        } finally {
          deadline.stop()
        }
      }
    },
  }
}

/** `call` is written for the model's version, which is what its type cannot say. */
async function* ask(
  call: CallOptions & { abortSignal: AbortSignal },
  reading: Reading,
  stream: boolean,
): AsyncGenerator<LlmResponse> {
  const { model } = reading
  const { abortSignal: signal } = call
  if (stream) {
    const asked = Promise.resolve(model.doStream({ ...call, includeRawChunks: true } as never))
    const reply = await unlessAborted(asked, signal)
    yield* streamReply(reply.stream, reading, signal)
  } else {
    const result = await unlessAborted(Promise.resolve(model.doGenerate(call as never)), signal)
    checkWarnings(reading, result.warnings)
    yield toResponse(result, reading)
  }
}

/** Does a tool result of the request hold media? */
function hasResultMedia({ contents }: LlmRequest): boolean {
  const isMedia = ({ inlineData, fileData }: Part): boolean => Boolean(inlineData ?? fileData)
  return contents.some(
    ({ role, parts }) =>
      (role === 'tool' && parts.some(isMedia)) || parts.some((part) => part.functionResponse?.parts?.some(isMedia)),
  )
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

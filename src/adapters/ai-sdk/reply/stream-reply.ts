import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { MAX_CONTENT_BYTES } from '../../../core/base/limits.ts'
import type { LlmResponse } from '../../../engine/model/model.ts'
import { unlessAborted } from '../../../engine/policy/wait.ts'
import type { AiSdkModel, AiSdkPart, AiSdkResult } from '../ai-sdk-types.ts'
import { cutOffError, replyTooLargeError } from '../errors/ai-sdk-error.ts'
import { isNetworkError, StreamError } from '../errors/to-ai-sdk-error.ts'
import { ANSWER_TOOL } from '../request/answer-tool.ts'
import { toFinishReason } from './finish-reason.ts'
import { checkWarnings, type ReplyContext, toResponse } from './response.ts'
import { isStreamTruncated, MAX_RAW_CHUNKS } from './truncated-stream.ts'

/** The partial responses of a stream, then the complete response. Throws when the stream broke off. */
export async function* streamReply(
  stream: ReadableStream<AiSdkPart>,
  context: ReplyContext,
  signal: AbortSignal,
): AsyncGenerator<LlmResponse> {
  const { model } = context
  const reply = new StreamedReply(context)
  for await (const part of readParts(stream, model, signal)) {
    const delta = reply.add({ ...part })
    if (delta) yield delta
  }
  if (reply.isTruncated()) throw cutOffError(model)
  yield toResponse(reply.toResult(), context)
}

/** Reads the parts of a stream. Cancels the request when the consumer stops iterating or the signal aborts. */
async function* readParts(
  stream: ReadableStream<AiSdkPart>,
  model: AiSdkModel,
  signal: AbortSignal,
): AsyncGenerator<AiSdkPart> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal)
      if (done) return
      yield value
    }
  } catch (error) {
    throw isNetworkError(error) ? cutOffError(model, error) : error
  } finally {
    void reader.cancel().catch(() => {}) // fails only when the stream has already ended
  }
}

type StreamPart = AiSdkPart & JsonObject

/** Estimated size of a part without its text. */
const PART_BYTES = 100

class StreamedReply {
  readonly #context: ReplyContext
  readonly #content: StreamPart[] = []
  /** Texts and thoughts in progress, by type and id. */
  readonly #blocks: Map<string, StreamPart & { text: string }> = new Map()
  /** Names of the tools whose arguments are streamed, by call id. */
  readonly #toolNames: Map<unknown, string> = new Map()
  readonly #openInputs: Set<unknown> = new Set()
  /** The last raw chunks of the provider. */
  readonly #chunks: unknown[] = []
  #bytes = 0
  #warnings: unknown
  #response: AiSdkResult['response']
  #finish: StreamPart | undefined

  constructor(context: ReplyContext) {
    this.#context = context
  }

  /** Whether the stream ended early. Arguments may be incomplete after a token limit, but not with finish reason STOP. */
  isTruncated(): boolean {
    if (!this.#finish) return true
    const finish = toFinishReason(this.#finish.finishReason)
    return isStreamTruncated(finish, this.#chunks) || (this.#openInputs.size > 0 && finish.reason === 'STOP')
  }

  /** Adds one part of the stream and returns its delta, if it has one. Unknown parts are ignored. */
  add(part: StreamPart): LlmResponse | undefined {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#block(part, true)
        return undefined
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(part)
      case 'text-end':
      case 'reasoning-end':
        Object.assign(this.#block(part), part.citations ? { citations: part.citations } : {})
        return undefined
      case 'tool-input-start':
        if (part.providerExecuted === true) return undefined
        this.#bytes += PART_BYTES
        this.#countBytes(text(part.toolName))
        this.#toolNames.set(part.id, this.#context.names.toToolName(text(part.toolName) ?? ''))
        this.#openInputs.add(part.id)
        return undefined
      case 'tool-input-delta':
        return this.#inputDelta(part)
      case 'tool-input-end':
        this.#openInputs.delete(part.id)
        return undefined
      case 'file':
      case 'reasoning-file':
      case 'source':
      case 'custom':
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
        this.#openInputs.delete(part.toolCallId)
        this.#push(part)
        return undefined
      case 'raw':
        this.#chunks.push(part.rawValue)
        if (this.#chunks.length > MAX_RAW_CHUNKS) this.#chunks.shift()
        return undefined
      case 'stream-start':
        this.#warnings = part.warnings
        checkWarnings(this.#context, part.warnings)
        return undefined
      case 'response-metadata':
        this.#response = { id: text(part.id), modelId: text(part.modelId) }
        return undefined
      case 'finish':
        this.#finish = part
        return undefined
      case 'error':
        throw new StreamError('The stream contains an error.', { cause: part.error })
      default:
        return undefined
    }
  }

  /** The result that the parts add up to. */
  toResult(): AiSdkResult {
    const { finishReason, usage, providerMetadata }: JsonObject = this.#finish ?? {}
    return {
      content: this.#content,
      finishReason,
      usage,
      providerMetadata,
      warnings: this.#warnings,
      ...(this.#response && { response: this.#response }),
    }
  }

  /** The text or thought a part belongs to. Its latest metadata replaces earlier metadata. */
  #block(part: StreamPart, isNew = false): StreamPart & { text: string } {
    const type = part.type.slice(0, part.type.indexOf('-'))
    const key = `${type} ${String(part.id)}`
    let block = isNew ? undefined : this.#blocks.get(key)
    if (!block) {
      block = { type, text: '' }
      this.#blocks.set(key, block)
      this.#push(block)
    }
    if (isRecord(part.providerMetadata)) Object.assign(block, { providerMetadata: part.providerMetadata })
    return block
  }

  #delta(part: StreamPart): LlmResponse | undefined {
    const block = this.#block(part)
    const delta = text(part.delta)
    if (!delta) return undefined
    this.#countBytes(delta)
    block.text += delta
    const parts = [block.type === 'reasoning' ? { text: delta, thought: true } : { text: delta }]
    return { content: { role: 'model', parts }, partial: true }
  }

  #push(part: StreamPart): void {
    this.#bytes += PART_BYTES
    if (!this.#toolNames.has(part.toolCallId)) this.#countBytes(text(part.input)) // otherwise its deltas are already counted
    this.#countBytes(text(part.data) ?? (isRecord(part.data) ? text(part.data.data) : undefined))
    this.#content.push(part)
  }

  /** Limits the size of a reply, so that an endless stream cannot fill the memory. */
  #countBytes(value: string | undefined): void {
    this.#bytes += value?.length ?? 0
    if (this.#bytes > MAX_CONTENT_BYTES) throw replyTooLargeError(this.#context.model, MAX_CONTENT_BYTES)
  }

  /** A delta of arguments. A part cannot contain incomplete arguments, so the delta is in `customMetadata`. */
  #inputDelta({ id, delta }: StreamPart): LlmResponse | undefined {
    const name = this.#toolNames.get(id)
    if (name === undefined || !delta) return undefined
    this.#countBytes(text(delta))
    if (this.#context.usesAnswerTool && name === ANSWER_TOOL) return undefined // these arguments become the text of the reply
    return { partial: true, customMetadata: { toolInput: { id, name, delta } } }
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

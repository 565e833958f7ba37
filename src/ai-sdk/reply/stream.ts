// A reply as it comes: deltas at once, the whole at the end.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { MAX_CONTENT_BYTES } from '../../base/limits.ts'
import { unlessAborted } from '../../policy/wait.ts'
import type { LlmResponse } from '../../tool/model.ts'
import { ANSWER_TOOL } from '../request/answer-tool.ts'
import { isCut, KEPT_CHUNKS } from './truncated-stream.ts'
import { cut, ErrorInStream, isNetworkError, tooLarge } from '../errors/to-ai-sdk-error.ts'
import { checkWarnings, type Reading, toResponse } from './response.ts'
import type { AiSdkModel, AiSdkPart, AiSdkResult } from '../ai-sdk-types.ts'
import { toFinish } from './usage.ts'

export async function* streamReply(
  stream: ReadableStream<AiSdkPart>,
  reading: Reading,
  signal: AbortSignal,
): AsyncGenerator<LlmResponse> {
  const { model } = reading
  const reply = new Reply(reading)
  for await (const part of read(stream, model, signal)) {
    const delta = reply.take({ ...part })
    if (delta) yield delta
  }
  if (reply.isCut()) throw cut(model)
  yield toResponse(reply.result(), reading)
}

/** Whoever leaves the loop, or is aborted, ends the request. */
async function* read(
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
    throw isNetworkError(error) ? cut(model, error) : error
  } finally {
    void reader.cancel().catch(() => {}) // already ended, by itself or by what it broke on
  }
}

type Loose = AiSdkPart & JsonObject

/** What a part of a reply takes besides its text. */
const PART_BYTES = 100

class Reply {
  readonly #reading: Reading
  readonly #content: Loose[] = []
  /** Texts and thoughts that are being written, by kind and id. */
  readonly #blocks: Map<string, Loose & { text: string }> = new Map()
  /** Tools whose arguments are being written, by call id. */
  readonly #toolNames: Map<unknown, string> = new Map()
  readonly #openInputs: Set<unknown> = new Set()
  /** The last chunks as the provider sent them. */
  readonly #chunks: unknown[] = []
  #bytes = 0
  #warnings: unknown
  #response: AiSdkResult['response']
  #finish: Loose | undefined

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** The stream is over: did the provider end the reply? Arguments may be left open only by a token limit. */
  isCut(): boolean {
    if (!this.#finish) return true
    const finish = toFinish(this.#finish.finishReason)
    return isCut(finish, this.#chunks) || (this.#openInputs.size > 0 && finish.reason === 'STOP')
  }

  /** Takes one part of the stream; gives what can be shown of it. Unknown parts are passed over. */
  take(part: Loose): LlmResponse | undefined {
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
        this.#count(text(part.toolName))
        this.#toolNames.set(part.id, this.#reading.names.toOurs(text(part.toolName) ?? ''))
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
        if (this.#chunks.length > KEPT_CHUNKS) this.#chunks.shift()
        return undefined
      case 'stream-start':
        this.#warnings = part.warnings
        checkWarnings(this.#reading, part.warnings)
        return undefined
      case 'response-metadata':
        this.#response = { id: text(part.id), modelId: text(part.modelId) }
        return undefined
      case 'finish':
        this.#finish = part
        return undefined
      case 'error':
        throw new ErrorInStream('The stream holds an error.', { cause: part.error })
      default:
        return undefined
    }
  }

  result(): AiSdkResult {
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

  /** The metadata that came last is the one that counts. */
  #block(part: Loose, isNew = false): Loose & { text: string } {
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

  #delta(part: Loose): LlmResponse | undefined {
    const block = this.#block(part)
    const delta = text(part.delta)
    if (!delta) return undefined
    this.#count(delta)
    block.text += delta
    const parts = [block.type === 'reasoning' ? { text: delta, thought: true } : { text: delta }]
    return { content: { role: 'model', parts }, partial: true }
  }

  #push(part: Loose): void {
    this.#bytes += PART_BYTES
    if (!this.#toolNames.has(part.toolCallId)) this.#count(text(part.input)) // else its deltas were counted
    this.#count(text(part.data) ?? (isRecord(part.data) ? text(part.data.data) : undefined))
    this.#content.push(part)
  }

  /** An endless stream must not fill the memory. */
  #count(value: string | undefined): void {
    this.#bytes += value?.length ?? 0
    if (this.#bytes > MAX_CONTENT_BYTES) throw tooLarge(this.#reading.model, MAX_CONTENT_BYTES)
  }

  /** No part can hold half of its arguments: they are told beside the content. */
  #inputDelta({ id, delta }: Loose): LlmResponse | undefined {
    const name = this.#toolNames.get(id)
    if (name === undefined || !delta) return undefined
    this.#count(text(delta))
    if (this.#reading.byTool && name === ANSWER_TOOL) return undefined // it becomes a text
    return { partial: true, customMetadata: { toolInput: { id, name, delta } } }
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

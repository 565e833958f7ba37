// A reply as it comes: deltas at once, the whole at the end.
import { isRecord, type JsonObject } from '../base/json.ts'
import { unlessAborted } from '../policy/wait.ts'
import type { LlmResponse } from '../tool/model.ts'
import { cut, isNetworkError } from './errors.ts'
import { toResponse } from './output.ts'
import type { AiSdkModel, AiSdkPart, AiSdkResult } from './spec.ts'

export async function* streamReply(
  stream: ReadableStream<AiSdkPart>,
  model: AiSdkModel,
  isStructured: boolean,
  signal: AbortSignal,
): AsyncGenerator<LlmResponse> {
  const reply = new Reply()
  for await (const part of read(stream, model, signal)) {
    const delta = reply.take({ ...part })
    if (delta) yield delta
  }
  if (!reply.finish) throw cut(model)
  yield toResponse(reply.result(), model, isStructured)
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

class Reply {
  readonly #content: Loose[] = []
  /** Texts and thoughts that are being written, by kind and id. */
  readonly #blocks: Map<string, Loose & { text: string }> = new Map()
  readonly #toolNames: Map<unknown, unknown> = new Map()
  #warnings: unknown
  #response: AiSdkResult['response']
  finish: Loose | undefined

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
        if (part.providerExecuted !== true) this.#toolNames.set(part.id, part.toolName)
        return undefined
      case 'tool-input-delta':
        return this.#inputDelta(part)
      case 'file':
      case 'reasoning-file':
      case 'source':
      case 'custom':
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
        this.#content.push(part)
        return undefined
      case 'stream-start':
        this.#warnings = part.warnings
        return undefined
      case 'response-metadata':
        this.#response = { id: text(part.id), modelId: text(part.modelId) }
        return undefined
      case 'finish':
        this.finish = part
        return undefined
      case 'error':
        throw part.error
      default:
        return undefined
    }
  }

  result(): AiSdkResult {
    const { finishReason, usage, providerMetadata }: JsonObject = this.finish ?? {}
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
      this.#content.push(block)
    }
    if (isRecord(part.providerMetadata)) Object.assign(block, { providerMetadata: part.providerMetadata })
    return block
  }

  #delta(part: Loose): LlmResponse | undefined {
    const block = this.#block(part)
    const delta = text(part.delta)
    if (!delta) return undefined
    block.text += delta
    const parts = [block.type === 'reasoning' ? { text: delta, thought: true } : { text: delta }]
    return { content: { role: 'model', parts }, partial: true }
  }

  /** No part can hold half of its arguments: they are told beside the content. */
  #inputDelta({ id, delta }: Loose): LlmResponse | undefined {
    const name = this.#toolNames.get(id)
    if (name === undefined || !delta) return undefined
    return { partial: true, customMetadata: { toolInput: { id, name, delta } } }
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { Part } from '../../../core/content/content.ts'
import type { LlmResponse } from '../../../engine/model/model.ts'
import { UnusableReply } from '../failure/failure.ts'
import { blockedPromptError, checkFinishedReply, finishError } from './finish-reason.ts'
import { Grounding, UniqueList } from './grounding.ts'
import { appendPart, readPart } from './parts.ts'

/** Builds a response from the chunks of a reply. */
export class ReplyBuilder {
  readonly #parts: Part[] = []
  readonly #metadata: JsonObject = {}
  #hasCandidate = false
  #blocked: JsonObject | undefined
  #finishReason: string | undefined
  #modelVersion: string | undefined
  #usageMetadata: JsonObject | undefined
  readonly #grounding = new Grounding()
  readonly #citations = new UniqueList()
  readonly #urls = new UniqueList()

  /** Adds a chunk and returns its parts. */
  add(chunk: unknown): readonly Part[] {
    if (!isRecord(chunk)) throw new UnusableReply('malformed', `expected a chunk, got ${kindOf(chunk)}`)
    if (isRecord(chunk.usageMetadata)) this.#usageMetadata = chunk.usageMetadata
    if (isRecord(chunk.promptFeedback) && chunk.promptFeedback.blockReason) this.#blocked = chunk.promptFeedback
    if (typeof chunk.modelVersion === 'string') this.#modelVersion = chunk.modelVersion
    this.#copyFields(chunk, ['responseId', 'promptFeedback', 'modelStatus'])
    const candidate = Array.isArray(chunk.candidates) ? chunk.candidates.find(isFirstCandidate) : undefined
    return candidate ? this.#addCandidate(candidate) : []
  }

  #addCandidate(candidate: JsonObject): readonly Part[] {
    this.#hasCandidate = true
    const { content, finishReason, groundingMetadata, citationMetadata, urlContextMetadata } = candidate
    if (typeof finishReason === 'string') this.#finishReason = finishReason
    if (isRecord(groundingMetadata)) this.#grounding.add(groundingMetadata)
    if (isRecord(citationMetadata)) this.#citations.add(citationMetadata.citations)
    this.#copyFields(candidate, [
      'safetyRatings',
      'urlContextMetadata',
      'avgLogprobs',
      'logprobsResult',
      'finishMessage',
    ])
    if (isRecord(urlContextMetadata) && Array.isArray(urlContextMetadata.urlMetadata)) {
      this.#urls.add(urlContextMetadata.urlMetadata)
      this.#metadata.urlContextMetadata = { ...urlContextMetadata, urlMetadata: this.#urls.items }
    }
    const raw = isRecord(content) && Array.isArray(content.parts) ? content.parts : []
    const parts = raw.flatMap((one) => readPart(one) ?? [])
    for (const part of parts) appendPart(this.#parts, part)
    return parts
  }

  #copyFields(from: JsonObject, fields: readonly string[]): void {
    for (const field of fields)
      if (from[field] !== undefined && from[field] !== null) this.#metadata[field] = from[field]
  }

  /** The complete response. Throws when the reply is incomplete, empty or invalid. */
  finish(isStream: boolean): LlmResponse {
    const reason = this.#finishReason
    if (reason === undefined && !this.#blocked) {
      if (isStream) throw new UnusableReply('cut-off', 'the stream ended without a finish reason')
      if (!this.#hasCandidate) throw new UnusableReply('malformed', 'the reply has no candidate')
    }
    if (!this.#blocked) checkFinishedReply(reason, this.#parts, this.#metadata.finishMessage)
    const groundingMetadata = this.#grounding.metadata()
    const error = this.#blocked
      ? blockedPromptError(this.#blocked)
      : finishError(reason, this.#parts, this.#metadata.finishMessage)
    return {
      ...((this.#parts.length > 0 || !error) && { content: { role: 'model', parts: this.#parts } }),
      ...(reason !== undefined && { finishReason: reason }),
      ...(this.#modelVersion !== undefined && { modelVersion: this.#modelVersion }),
      ...(this.#usageMetadata && { usageMetadata: this.#usageMetadata }),
      ...(groundingMetadata && { groundingMetadata }),
      ...(this.#citations.items.length > 0 && { citationMetadata: { citations: this.#citations.items } }),
      ...(Object.keys(this.#metadata).length > 0 && { customMetadata: { gemini: this.#metadata } }),
      ...error,
    }
  }
}

/** Is it the first candidate? Only the first one is used. */
const isFirstCandidate = (candidate: unknown): candidate is JsonObject =>
  isRecord(candidate) && (candidate.index ?? 0) === 0

import type { JsonObject } from '../../base/json.ts'
import type { Part } from '../../content/content.ts'
import type { EventDraft } from '../../dispatch/host.ts'

/** What is known about a reply besides its parts. */
export interface LiveReply {
  /** The text is a transcript of speech. */
  readonly transcribed?: boolean
  /** The user interrupted the reply. */
  readonly interrupted?: boolean
  /** Token counts. */
  readonly usageMetadata?: JsonObject | undefined
  /** Sources. */
  readonly groundingMetadata?: JsonObject | undefined
}

/** Adds what is known about a reply to its event. */
export function describeReply(event: EventDraft, reply: LiveReply): void {
  const { transcribed, interrupted, usageMetadata, groundingMetadata } = reply
  event.turnComplete = true
  event.live = true
  const text = textIn(event.content?.parts ?? [])
  if (transcribed && text) event.outputTranscription = { text, finished: true }
  if (interrupted) event.interrupted = true
  if (usageMetadata) event.usageMetadata = usageMetadata
  if (groundingMetadata) event.groundingMetadata = groundingMetadata
}

/** The text of a reply or a message, without thoughts. */
export function textIn(parts: readonly Part[]): string {
  return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
}

// The events of one output item, in the order of the API.
import { encodeBase64 } from '../../../../core/base/base64.ts'
import type { JsonObject } from '../../../../core/base/json.ts'
import type { Conversation } from './conversation.ts'

/** What is needed to write output items. */
export interface OutputContext {
  /** The conversation. */
  readonly conversation: Conversation
  /** Sends an event to the client. */
  emit(event: JsonObject): void
}

/** Writes a message with text. */
export function writeText(deltas: readonly string[], context: OutputContext): void {
  const text = deltas.join('')
  writeMessage({ part: { type: 'text', text }, content: { type: 'output_text', text } }, context, (place) => {
    for (const delta of deltas) context.emit({ type: 'response.output_text.delta', ...place, delta })
    context.emit({ type: 'response.output_text.done', ...place, text })
  })
}

/** Writes a message with audio and its transcript. */
export function writeAudio(audio: Uint8Array, deltas: readonly string[], context: OutputContext): void {
  const transcript = deltas.join('')
  const message = { part: { type: 'audio', transcript }, content: { type: 'output_audio', transcript } }
  writeMessage(message, context, (place) => {
    context.emit({ type: 'response.output_audio.delta', ...place, delta: encodeBase64(audio) })
    for (const delta of deltas) context.emit({ type: 'response.output_audio_transcript.delta', ...place, delta })
    context.emit({ type: 'response.output_audio.done', ...place })
    if (deltas.length > 0) context.emit({ type: 'response.output_audio_transcript.done', ...place, transcript })
  })
}

/** Writes a function call. */
export function writeCall(
  call: { readonly name: string; readonly args: string; readonly id: string; readonly status: string },
  context: OutputContext,
): void {
  const { name, args, id: call_id, status } = call
  writeItem({ type: 'function_call', name, call_id, arguments: args }, status, context, (place) => {
    context.emit({ type: 'response.function_call_arguments.delta', ...place, call_id, delta: args })
    context.emit({ type: 'response.function_call_arguments.done', ...place, call_id, name, arguments: args })
  })
}

function writeMessage(
  { part, content }: { readonly part: JsonObject; readonly content: JsonObject },
  context: OutputContext,
  writeDeltas: (place: JsonObject) => void,
): void {
  writeItem({ type: 'message', role: 'assistant', content: [content] }, 'completed', context, (place) => {
    const inPart = { ...place, content_index: 0 }
    context.emit({ type: 'response.content_part.added', ...inPart, part: { type: part.type } })
    writeDeltas(inPart)
    context.emit({ type: 'response.content_part.done', ...inPart, part })
  })
}

/** Writes an item. Starts a response if none is active. */
function writeItem(
  members: JsonObject,
  status: string,
  { conversation, emit }: OutputContext,
  writeContent: (place: JsonObject) => void,
): void {
  const response = conversation.responses.active ?? conversation.responses.start(false)
  const item = { id: conversation.newId('item'), object: 'realtime.item', ...members }
  const place = { response_id: response.id, output_index: response.output.length }
  const empty = { ...item, status: 'in_progress', ...('content' in members ? { content: [] } : { arguments: '' }) }
  emit({ type: 'response.output_item.added', ...place, item: empty })
  writeContent({ ...place, item_id: item.id })
  const finished = { ...item, status }
  response.output.push(finished)
  emit({ type: 'response.output_item.done', ...place, item: finished })
  conversation.addItem(finished)
}

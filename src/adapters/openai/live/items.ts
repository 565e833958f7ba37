// Converts contents and tool responses to items of the conversation.

import type { JsonObject } from '../../../core/base/json.ts'
import { codeAsText } from '../../../core/content/code-text.ts'
import type { Content, FunctionCall, FunctionResponse, Part } from '../../../core/content/content.ts'
import { hasHiddenMedia, shownResponse } from '../../../engine/agent/request/shown-response.ts'
import type { CallLedger } from './call-ledger.ts'
import type { ToolNames } from './tool-names.ts'

/** What is needed to write items. */
export interface ItemContext {
  /** The calls of the conversation. */
  readonly calls: CallLedger
  /** Tool names as OpenAI accepts them. */
  readonly names: ToolNames
  /** Creates an id of at most 32 characters. */
  newId(): string
}

/** The items of a conversation so far. */
export function toItems(contents: readonly Content[], context: ItemContext): JsonObject[] {
  const items: JsonObject[] = []
  for (const { role, parts } of contents) {
    const batch = context.newId()
    let message: JsonObject[] = []
    const flush = (): void => {
      if (message.length > 0) items.push(toMessage(role === 'model' ? 'assistant' : 'user', message, context))
      message = []
    }
    for (const part of parts) {
      const { functionCall, functionResponse } = part
      if (functionCall || functionResponse) flush()
      if (functionCall) items.push(toCall(functionCall, batch, context))
      else if (functionResponse) items.push(...toResponse(functionResponse, context).items)
      else message.push(...(role === 'model' ? toOutput(part) : toInput(part)))
    }
    flush()
    context.calls.complete(batch)
  }
  return items
}

/** A response to a call as items, and whether the model must be asked to react. */
export function toResponse(
  answer: FunctionResponse,
  context: ItemContext,
): { readonly items: readonly JsonObject[]; readonly needsReply: boolean } {
  const sent = context.calls.answer(answer.id, answer.name)
  const json = JSON.stringify(shownResponse(answer) ?? null)
  const media = hasHiddenMedia(answer) ? [] : (answer.parts ?? []).flatMap(toInput)
  const after = media.length > 0 ? [toMessage('user', media, context)] : []
  if (sent.type === 'output') {
    const output = { id: context.newId(), type: 'function_call_output', call_id: sent.providerId, output: json }
    return { items: [output, ...after], needsReply: sent.isLast }
  }
  const progress = answer.willContinue ? 'Progress' : 'Result'
  const text = `${progress} of the earlier call of ${context.names.toProvider(answer.name)}: ${json}`
  return {
    items: [toMessage('system', [{ type: 'input_text', text }], context), ...after],
    needsReply: !answer.willContinue && answer.scheduling !== 'SILENT',
  }
}

/** A message of the user, the model or the system. */
export function toMessage(
  role: 'user' | 'assistant' | 'system',
  content: readonly JsonObject[],
  { newId }: Pick<ItemContext, 'newId'>,
): JsonObject {
  return { id: newId(), type: 'message', role, content }
}

/** A part as content of a user message. Media that OpenAI cannot read becomes a note. */
function toInput(part: Part): JsonObject[] {
  const { inlineData } = part
  if (inlineData && isReadableImage(inlineData.mimeType))
    return [{ type: 'input_image', image_url: `data:${inlineData.mimeType};base64,${inlineData.data}` }]
  if (inlineData && isReadableAudio(inlineData.mimeType)) return [{ type: 'input_audio', audio: inlineData.data }]
  const text = part.text ?? codeAsText(part) ?? mediaNote(part)
  return text ? [{ type: 'input_text', text }] : []
}

/** Can OpenAI Realtime read images of this type? */
export function isReadableImage(mimeType: string): boolean {
  return /^image\/(png|jpeg)$/i.test(mimeType)
}

const isReadableAudio = (mimeType: string): boolean => /^audio\/pcm(;\s*rate=24000)?$/i.test(mimeType)

/** A part as content of a message of the model. The API takes no audio of the model; its transcript is text. */
function toOutput(part: Part): JsonObject[] {
  if (part.thought || part.inlineData?.mimeType.startsWith('audio/')) return []
  const text = part.text ?? codeAsText(part) ?? mediaNote(part)
  return text ? [{ type: 'output_text', text }] : []
}

function mediaNote({ inlineData, fileData }: Part): string | undefined {
  const media = inlineData ?? fileData
  if (!media) return undefined
  return `[file${media.displayName === undefined ? '' : ` "${media.displayName}"`}: ${media.mimeType ?? 'unknown type'}]`
}

function toCall({ id, name, args }: FunctionCall, batch: string, { calls, names, newId }: ItemContext): JsonObject {
  const callId = id ?? newId()
  // a repeated id is a call of its own, which the response to the first one does not answer
  const providerId = calls.add(batch, callId, name) ?? newId()
  return {
    id: newId(),
    type: 'function_call',
    call_id: providerId,
    name: names.toProvider(name),
    arguments: JSON.stringify(args ?? {}),
  }
}

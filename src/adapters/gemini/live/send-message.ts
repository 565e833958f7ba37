import type { Content as SdkContent, Session, ToolListUnion } from '@google/genai'
import { encodeBase64 } from '../../../core/base/base64.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import type { Content } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import { toGeminiContents } from '../request/contents.ts'
import { toGeminiTools } from '../request/tools.ts'
import { sendToolResponses } from './tool-responses.ts'

/** The model that gets a message. */
export interface LiveTarget {
  /** Whether it is a model of Vertex AI. */
  readonly isVertex: boolean
  /** Whether the model is Gemini 3 or newer. */
  readonly isGemini3: boolean
  /** Whether Gemini runs the code it writes. */
  readonly runsCode: boolean
}

/** Sends a message through the client. */
export function sendMessage(session: Session, message: LiveClientMessage, target: LiveTarget): void {
  switch (message.type) {
    case 'audio':
      session.sendRealtimeInput({ audio: toBlob(message, 'audio/') })
      break
    case 'video':
      session.sendRealtimeInput({ video: toBlob(message, 'image/') })
      break
    case 'text':
      session.sendRealtimeInput({ text: message.text })
      break
    case 'activity':
      session.sendRealtimeInput(message.state === 'start' ? { activityStart: {} } : { activityEnd: {} })
      break
    case 'content':
      sendContent(session, message, target)
      break
    case 'toolResponses':
      sendToolResponses(session, message.responses, target)
      break
    case 'update':
      sendUpdate(session, message, target)
      break
    default:
      unreachable(message)
  }
}

function toBlob(
  { type, data, mimeType }: { type: string; data: Uint8Array; mimeType: string },
  prefix: string,
): { data: string; mimeType: string } {
  if (typeof mimeType === 'string' && mimeType.startsWith(prefix)) return { data: encodeBase64(data), mimeType }
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `Gemini accepts live ${type} only with a mimeType that starts with "${prefix}", got "${mimeType}".`,
  )
}

function sendContent(
  session: Session,
  { contents, turnComplete }: Extract<LiveClientMessage, { type: 'content' }>,
  target: LiveTarget,
): void {
  const text = target.isGemini3 && turnComplete ? userText(contents) : undefined
  if (text !== undefined) {
    session.sendRealtimeInput({ text }) // Gemini 3 live models refuse `clientContent` after the first turn
    return
  }
  const turns = toGeminiContents(contents, { ...target, isLive: true })
  // the client throws an error for an empty list; the format is that of the client
  session.sendClientContent({ ...(turns.length && { turns: turns as unknown as SdkContent[] }), turnComplete })
}

/** The text of a conversation that consists only of text of the user. */
function userText(contents: readonly Content[]): string | undefined {
  const parts = contents.flatMap(({ parts }) => parts)
  const isText = parts.every((part) => part.text !== undefined) && contents.every(({ role }) => role === 'user')
  const text = parts.map((part) => part.text).join('\n')
  return isText && text !== '' ? text : undefined
}

function sendUpdate(
  session: Session,
  { instruction, tools }: Extract<LiveClientMessage, { type: 'update' }>,
  { isVertex }: LiveTarget,
): void {
  if (typeof session.sendContextUpdate !== 'function')
    throw new ToolwrightError(
      'INVALID_CONFIG',
      'This version of @google/genai cannot change a live session. Update the package, or pass geminiLive() the option capabilities: { updates: false }.',
    )
  const geminiTools = tools && [...toGeminiTools(tools, { keepsBehavior: !isVertex }).entries]
  session.sendContextUpdate({
    ...(instruction !== undefined && { systemInstruction: instruction }),
    ...(geminiTools && { tools: { tools: geminiTools satisfies ToolListUnion } }),
  })
}

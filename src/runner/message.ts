import { copyJson, isRecord, ROOM_ABOVE } from '../base/json.ts'
import type { Content, Message, Part } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'

/** A message as it is recorded: a copy, with the role of a user, and nothing in it that only a model may say. */
export function toContent(message: Message): Content {
  if (typeof message === 'string') {
    if (isBlank(message)) throw new ToolwrightError('INVALID_REQUEST', 'The message is empty.')
    return { role: 'user', parts: [{ text: message }] }
  }
  const parts: unknown = Array.isArray(message) ? message : isRecord(message) ? (message as Content).parts : undefined
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isPart)) {
    throw new ToolwrightError('INVALID_REQUEST', 'A message is a text, a list of parts, or a content with parts.')
  }
  if (parts.every(({ text }) => isBlank(text))) throw new ToolwrightError('INVALID_REQUEST', 'The message is empty.')
  for (const part of parts as Part[]) {
    if (part.functionCall !== undefined) {
      throw new ToolwrightError('INVALID_REQUEST', 'A message cannot hold a functionCall: only a model calls tools.')
    }
    if (part.functionResponse !== undefined && !isRecord(part.functionResponse)) {
      throw new ToolwrightError('INVALID_REQUEST', 'A functionResponse is an object with an id, a name and a response.')
    }
  }
  try {
    return { role: 'user', parts: copyJson(parts as Part[], ROOM_ABOVE) }
  } catch (cause) {
    throw new ToolwrightError('INVALID_REQUEST', 'The message is nested too deep.', { cause })
  }
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

function isPart(part: unknown): boolean {
  if (!isRecord(part) || Object.keys(part).length === 0) return false
  const { text, inlineData, fileData } = part
  const objects = [inlineData, fileData].filter((one) => one !== undefined)
  return (text === undefined || (typeof text === 'string' && text !== '')) && objects.every(isRecord)
}

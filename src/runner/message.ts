import { copyJson, isRecord, jsonSize, RESERVED_DEPTH } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { MAX_CONTENT_BYTES } from '../base/limits.ts'
import type { Content, Message, Part } from '../content/content.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'

/**
 * A message as it is recorded: a copy, with the role of a user, and nothing in it that only a model may say.
 * `maxResultBytes`: how large an answer, or a result, may be.
 */
export function toContent(message: Message, maxResultBytes: number = MAX_CONTENT_BYTES): Content {
  try {
    return readContent(message, maxResultBytes)
  } catch (cause) {
    if (cause instanceof ToolwrightError) throw cause
    throw new ToolwrightError('INVALID_REQUEST', `The message cannot be read: ${messageOf(cause)}`, { cause })
  }
}

function readContent(message: Message, maxResultBytes: number): Content {
  if (typeof message === 'string') {
    if (isBlank(message)) throw new ToolwrightError('INVALID_REQUEST', 'The message is empty.')
    checkSize('The message', message, MAX_CONTENT_BYTES, 'Save what is larger as an artifact')
    return { role: 'user', parts: [{ text: message }] }
  }
  if (holdsMessages(message)) {
    throw new ToolwrightError(
      'INVALID_REQUEST',
      'The message is a list of messages or an AI SDK message ({ role, content }). Pass only what the user says now, as a text or a list of parts: the session keeps the earlier messages.',
    )
  }
  const parts: unknown = Array.isArray(message) ? message : isRecord(message) ? (message as Content).parts : undefined
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isPart)) {
    const hint = isSinglePart(message) ? ' Put the part into a list: message: [part].' : ''
    throw new ToolwrightError(
      'INVALID_REQUEST',
      `A message is a text, a list of parts, or a content with parts, got ${kindOf(message)}.${hint}`,
    )
  }
  if (parts.every(({ text }) => isBlank(text))) throw new ToolwrightError('INVALID_REQUEST', 'The message is empty.')
  for (const part of parts as Part[]) {
    if (part.functionCall !== undefined) {
      throw new ToolwrightError('INVALID_REQUEST', 'A message cannot hold a functionCall: only a model calls tools.')
    }
    const wrong = wrongFileMember(part)
    if (wrong !== undefined) {
      const message = `The ${wrong} of a file in a message must be a string. A file is { inlineData: { mimeType, data } } or { fileData: { mimeType, fileUri } }.`
      throw new ToolwrightError('INVALID_REQUEST', message)
    }
    if (part.functionResponse !== undefined && !isRecord(part.functionResponse)) {
      throw new ToolwrightError('INVALID_REQUEST', 'A functionResponse is an object with an id, a name and a response.')
    }
    const answer = part.functionResponse?.response
    if (answer) checkSize('An answer', answer, maxResultBytes, 'Raise maxResultBytes, or save it as an artifact')
  }
  checkSize('The message', parts, MAX_CONTENT_BYTES, 'Save what is larger as an artifact')
  try {
    return { role: 'user', parts: copyJson(parts as Part[], RESERVED_DEPTH) }
  } catch (cause) {
    throw new ToolwrightError('INVALID_REQUEST', 'The message is nested too deep.', { cause })
  }
}

/** `[{ role, ... }]`, or `{ role, content }`. */
function holdsMessages(message: unknown): boolean {
  if (Array.isArray(message)) return message.some((one) => isRecord(one) && 'role' in one)
  return isRecord(message) && 'content' in message && !('parts' in message)
}

function checkSize(what: string, value: unknown, most: number, instead: string): void {
  const size = jsonSize(value, most)
  if (size <= most || size === Number.POSITIVE_INFINITY) return // what is too deep is refused as such
  throw new ToolwrightError('TOO_LARGE', `${what} has more than ${most} bytes. ${instead}, and send its name.`)
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

function isSinglePart(message: unknown): boolean {
  return isRecord(message) && ['text', 'functionResponse', 'inlineData', 'fileData'].some((key) => key in message)
}

/** A provider would refuse such a file with every later request of the session. */
function wrongFileMember({ inlineData, fileData }: Part): string | undefined {
  const { mimeType, data, displayName }: { readonly [member: string]: unknown } = { ...inlineData }
  const members = { mimeType, data, displayName, fileUri: fileData?.fileUri }
  return Object.entries(members).find(([, value]) => !isTextOrAbsent(value))?.[0]
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isPart(part: unknown): boolean {
  if (!isRecord(part) || Object.keys(part).length === 0) return false
  const { text, inlineData, fileData } = part
  const objects = [inlineData, fileData].filter((one) => one !== undefined)
  return (text === undefined || (typeof text === 'string' && text !== '')) && objects.every(isRecord)
}

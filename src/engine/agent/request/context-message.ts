import { codeAsText } from '../../../core/content/code-text.ts'
import type { Content, Part } from '../../../core/content/content.ts'
import { hasHiddenMedia, shownResponse } from './shown-response.ts'

/**
 * Describes the content of another agent as a user message, without its thoughts. `verb` introduces its texts.
 * Undefined if nothing is visible.
 */
export function contextMessage(
  author: string,
  content: readonly Part[],
  verb: 'said' | 'received',
): Content | undefined {
  const parts: Part[] = [{ text: 'For context:' }]
  let hidesMedia = false
  for (const part of content) {
    if (part.text) {
      if (!part.thought && !hidesMedia) parts.push({ text: `[${author}] ${verb}: ${part.text}` })
    } else if (part.functionCall) {
      const { name, args } = part.functionCall
      parts.push({ text: `[${author}] called ${name} with ${JSON.stringify(args)}` })
    } else if (part.functionResponse) {
      const shown = JSON.stringify(shownResponse(part.functionResponse))
      hidesMedia = hasHiddenMedia(part.functionResponse)
      parts.push({ text: `[${author}] got from ${part.functionResponse.name}: ${shown}` })
    } else {
      const code = codeAsText(part)
      if (code === undefined && hidesMedia) continue
      parts.push(code === undefined ? part : { text: `[${author}] ran code:\n${code}` })
    }
  }
  return parts.length > 1 ? { role: 'user', parts } : undefined
}

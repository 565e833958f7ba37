import type { Content, Part } from '../../../core/content/content.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'

/** Most characters of the conversation that a new connection starts with. */
const MAX_CHARACTERS = 100_000
const CUT = '… [The rest is left out.]'

/**
 * The conversation as text, for a connection that does not know it. Calls and results become text: live models accept no
 * function calls that they did not make. A long conversation loses its beginning, and no result stays without its call.
 * `isRunning`: has the call no result yet?
 */
export function seedContents(history: readonly Content[], isRunning: (callId: string) => boolean): Content[] {
  const contents: Content[] = []
  let left = MAX_CHARACTERS
  let start = 0 // of `contents`: before it are results whose calls may be left out
  for (const { role, parts } of history.toReversed()) {
    const told = asText({ role, parts: parts.map((part) => withoutPlaceholder(part, isRunning)) })
    const text = told?.parts[0]?.text ?? ''
    if (!told) continue
    if (text.length > left) {
      // the latest message is never left out: it may be the one that waits for a reply
      if (contents.length === 0) contents.push({ ...told, parts: [{ text: text.slice(0, left) + CUT }] })
      return contents.slice(Math.min(start, contents.length - 1))
    }
    left -= text.length
    contents.unshift(told)
    start = parts.some(isResult) ? start + 1 : 0
  }
  return contents
}

function isResult({ functionResponse, codeExecutionResult }: Part): boolean {
  return functionResponse !== undefined || codeExecutionResult !== undefined
}

/** The history has an error for a call without a result. The result of a call that runs follows later. */
function withoutPlaceholder(part: Part, isRunning: (callId: string) => boolean): Part {
  const { id = '', name, response } = part.functionResponse ?? {}
  if (typeof response?.error !== 'string' || !isRunning(id)) return part
  return { text: `[${name} is still running. Its result follows.]` }
}

/** A message as text. Undefined if it has nothing to tell. */
export function asText({ role, parts }: Content): Content | undefined {
  const text = parts.map(textOf).filter(Boolean).join('\n')
  return text === '' ? undefined : { role: role === 'model' ? 'model' : 'user', parts: [{ text }] }
}

function textOf({ text, thought, functionCall, functionResponse, inlineData, fileData }: Part): string {
  if (functionCall) return `[Called ${functionCall.name} with ${JSON.stringify(functionCall.args)}]`
  if (functionResponse) return `[Result of ${functionResponse.name}: ${JSON.stringify(functionResponse.response)}]`
  const media = inlineData ?? fileData
  if (media) return `[${media.mimeType ?? 'A file'}]`
  return thought ? '' : (text ?? '')
}

/** A result, or news of a call that goes on, for a model that takes no response for the call. */
export function resultText(name: string, response: unknown, news: 'result' | 'news' = 'result'): string {
  return `[${news === 'news' ? 'News' : 'The result'} of ${name} has arrived: ${JSON.stringify(response)}]`
}

const REPLY_AGAIN: Content = {
  role: 'user',
  parts: [{ text: '[The connection was lost while you replied. Reply again.]' }],
}

/** The message that tells a model what was said. `isOwed`: the model must reply. A model replies to a user, not to itself. */
export function toldMessage(contents: readonly Content[], isOwed: boolean): LiveClientMessage {
  const isOwn = contents.at(-1)?.role === 'model'
  return { type: 'content', contents: isOwed && isOwn ? [...contents, REPLY_AGAIN] : contents, turnComplete: isOwed }
}

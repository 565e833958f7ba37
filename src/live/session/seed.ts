import type { Content, Part } from '../../content/content.ts'

/** Most characters of the conversation that a new connection starts with. */
const MAX_CHARACTERS = 100_000

/**
 * The conversation as text, for a connection that does not know it. Calls and results become text: live models accept no
 * function calls that they did not make.
 */
export function seedContents(history: readonly Content[]): Content[] {
  const contents: Content[] = []
  let left = MAX_CHARACTERS
  for (const { role, parts } of history.toReversed()) {
    const text = parts.map(textOf).filter(Boolean).join('\n')
    if (text === '') continue
    if (text.length > left) break
    left -= text.length
    contents.unshift({ role: role === 'model' ? 'model' : 'user', parts: [{ text }] })
  }
  return contents
}

function textOf({ text, thought, functionCall, functionResponse }: Part): string {
  if (functionCall) return `[Called ${functionCall.name} with ${JSON.stringify(functionCall.args)}]`
  if (functionResponse) return `[Result of ${functionResponse.name}: ${JSON.stringify(functionResponse.response)}]`
  return thought ? '' : (text ?? '')
}

/** A result for a model that no longer knows the call. */
export function resultText(name: string, response: unknown): string {
  return `[The result of ${name} has arrived: ${JSON.stringify(response)}]`
}

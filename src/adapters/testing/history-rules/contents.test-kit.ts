// For tests only: short functions that create contents.
import type { Content, Part } from '../../../core/content/content.ts'

/** A rule, contents that break it, the same contents repaired, and the message. */
export type RuleCase = readonly [
  rule: string,
  broken: readonly Content[],
  repaired: readonly Content[],
  message: string,
]

/** A user content. */
export const userText = (text: string): Content => ({ role: 'user', parts: [{ text }] })
/** A model content. */
export const modelText = (text: string): Content => ({ role: 'model', parts: [{ text }] })

/** A model content with calls. A string is the id of a call of `look`. */
export function modelCalls(...calls: (string | { id?: string; name: string; signature?: string })[]): Content {
  const parts = calls.map((call): Part => {
    const { signature, ...one } = typeof call === 'string' ? { id: call, name: 'look', signature: undefined } : call
    const functionCall = { ...one, args: {} }
    return { functionCall, ...(signature !== undefined && { thoughtSignature: signature }) }
  })
  return { role: 'model', parts }
}

/** A tool content with responses. A string is the id of a response of `look`. */
export function toolResults(...responses: (string | { id?: string; name: string })[]): Content {
  const parts = responses.map((one): Part => {
    const functionResponse = typeof one === 'string' ? { id: one, name: 'look' } : one
    return { functionResponse: { ...functionResponse, response: { found: true } } }
  })
  return { role: 'tool', parts }
}

/** Contents that do not match their type. */
export const malformed = (contents: unknown): readonly Content[] => contents as readonly Content[]

// Histories in a line: who says what, which calls are made, which are answered.
import type { Content, Part } from '../../content/content.ts'

/** What a test of a rule holds: its name, a history that breaks it, the same one repaired, and what is said of it. */
export type RuleCase = readonly [rule: string, broken: readonly Content[], repaired: readonly Content[], said: string]

export const userText = (text: string): Content => ({ role: 'user', parts: [{ text }] })
export const modelText = (text: string): Content => ({ role: 'model', parts: [{ text }] })

/** A reply with these calls: ids, all of `look`, or whole calls. */
export function modelCalls(...calls: (string | { id?: string; name: string; signature?: string })[]): Content {
  const parts = calls.map((call): Part => {
    const { signature, ...one } = typeof call === 'string' ? { id: call, name: 'look', signature: undefined } : call
    const functionCall = { ...one, args: {} }
    return { functionCall, ...(signature !== undefined && { thoughtSignature: signature }) }
  })
  return { role: 'model', parts }
}

/** Responses to these calls. */
export function toolResults(...responses: (string | { id?: string; name: string })[]): Content {
  const parts = responses.map((one): Part => {
    const functionResponse = typeof one === 'string' ? { id: one, name: 'look' } : one
    return { functionResponse: { ...functionResponse, response: { found: true } } }
  })
  return { role: 'tool', parts }
}

/** Contents as nobody should write them. */
export const malformed = (contents: unknown): readonly Content[] => contents as readonly Content[]

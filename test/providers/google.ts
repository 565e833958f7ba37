// For tests only: one turn of a model in the format of Gemini.
import type { JsonObject } from '../../src/core/base/json.ts'
import { bodyOrEvents, type ModelTurn } from './model-turn.ts'
import type { Reply } from './provider-server.ts'

/** `:generateContent` and `:streamGenerateContent` of Google. */
export function google({ thinking, signature, text, calls = [], finish = 'STOP' }: ModelTurn): Reply {
  const sign = signature === undefined ? {} : { thoughtSignature: signature }
  const parts: JsonObject[] = []
  if (thinking !== undefined) parts.push({ text: thinking, thought: true, ...(calls.length ? {} : sign) })
  if (text !== undefined) parts.push({ text })
  for (const [at, { id, name, args = {} }] of calls.entries())
    parts.push({ functionCall: { id, name, args }, ...(at === 0 && sign) })
  return googleParts(parts, finish)
}

/** Raw parts of Google, for what a `ModelTurn` cannot express. */
export function googleParts(parts: readonly JsonObject[], finishReason = 'STOP', more: JsonObject = {}): Reply {
  const head = { responseId: 'g-1', modelVersion: 'gemini-test' }
  const usageMetadata = {
    promptTokenCount: 12,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 3,
    cachedContentTokenCount: 4,
    totalTokenCount: 20,
  }
  const candidate = (some: readonly JsonObject[], end: object): object => ({
    ...head,
    candidates: [{ index: 0, content: { role: 'model', parts: some }, ...end }],
    usageMetadata,
  })
  return bodyOrEvents(
    () => candidate(parts, { finishReason, ...more }),
    () => [...parts.map((part) => candidate([part], {})), candidate([], { finishReason, ...more })],
  )
}

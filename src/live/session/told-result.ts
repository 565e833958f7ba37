import { type Content, type FunctionResponse, isHandle } from '../../content/content.ts'
import { resultText } from '../conversation/seed.ts'
import type { HeldMessage } from './held-results.ts'
import type { WireCall } from './wire-call.ts'

/** A result that is sent as a message. */
export interface ToldResult {
  /** The message. */
  readonly content: Content
  /** The model is to be interrupted by the result. */
  readonly interrupts: boolean
  /** The model waits for the result, or is to be interrupted by it. */
  readonly isUrgent: boolean
  /** The model does not reply. */
  readonly isSilent: boolean
}

/** A result or news of a call, as a message. */
export function tellResult(one: WireCall, response: FunctionResponse): ToldResult {
  const { scheduling } = one.background ?? {}
  const interrupts = scheduling === 'INTERRUPT' && one.isInterim && !isHandle(response)
  const isUrgent = !one.isInterim || interrupts
  one.respond(response) // in case the model remembers the call after all
  const text = resultText(one.call.name, one.format(response), isHandle(response) ? 'news' : 'result')
  return { content: { role: 'user', parts: [{ text }] }, interrupts, isUrgent, isSilent: scheduling === 'SILENT' }
}

/** Several results as one message. */
export function joined(told: readonly ToldResult[]): HeldMessage {
  return { contents: told.map(({ content }) => content), turnComplete: told.some(({ isSilent }) => !isSilent) }
}

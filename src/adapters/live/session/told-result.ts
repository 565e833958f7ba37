import { type Content, type FunctionResponse, isHandle } from '../../../core/content/content.ts'
import type { HeldResults } from '../conversation/held.ts'
import { resultText } from '../conversation/seed.ts'
import type { ModelCall } from './model-call.ts'

/** A result that is sent as a message. */
export interface ToldResult {
  /** The message. */
  readonly content: Content
  /** `interrupt`: while the model speaks. `now`: the model waits for the result. `idle`: once the model is idle. */
  readonly when: 'interrupt' | 'now' | 'idle'
  /** The model does not reply. */
  readonly isSilent: boolean
}

/** A result or news of a call, as a message. */
export function tellResult(one: ModelCall, recorded: FunctionResponse): ToldResult {
  const { scheduling } = one.background ?? {}
  const isNews = isHandle(recorded)
  const later = scheduling === 'INTERRUPT' && !isNews ? 'interrupt' : 'idle'
  const when = one.isUntold ? 'now' : later
  const { response } = one.respond(recorded) // in case the model remembers the call after all
  const text = resultText(one.call.name, response, isNews ? 'news' : 'result')
  return { content: { role: 'user', parts: [{ text }] }, when, isSilent: scheduling === 'SILENT' }
}

/** Several results as one message. */
export function joined(told: readonly ToldResult[]): HeldResults {
  const isSilent = told.every((one) => one.isSilent)
  return { contents: told.map(({ content }) => content), wants: isSilent ? 'nothing' : 'reply' }
}

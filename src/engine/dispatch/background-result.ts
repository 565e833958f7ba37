// What the model reads of a call in the background: its handle, and its result.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import type { BackgroundOptions } from '../policy/background.ts'
import { type BackgroundResult, defaultFormatter, type ResultFormatter } from '../policy/result-formatter.ts'
import { type CallResult, failure, type Outcome, unknownOutcome } from './outcome.ts'
import type { ToolEntry } from './resolve.ts'

/** The result of a body in the background. */
export interface BackgroundOutcome {
  /** What the model reads. */
  readonly response: JsonObject
  /** What the body has written to the state. */
  readonly stateDelta: JsonObject | undefined
}

/** The formatter, or the default one where it throws or returns no object: the result must not be lost. */
export function safeFormatter(background: BackgroundOptions | undefined): ResultFormatter {
  const formatter = background?.formatter ?? defaultFormatter
  const safe = (format: (by: ResultFormatter) => unknown): JsonObject => {
    try {
      const { value } = toJsonValue(format(formatter))
      if (isRecord(value)) return value
    } catch {
      // the default below
    }
    return format(defaultFormatter) as JsonObject // it returns objects
  }
  return {
    formatRunning: (call) => safe((by) => by.formatRunning(call)),
    formatResult: (call, result) => safe((by) => by.formatResult(call, result)),
    formatCancelled: (callId) => safe((by) => by.formatCancelled(callId)),
  }
}

/** The result of a body that has ended. */
export function outcomeInBackground(outcome: Outcome, formatter: ResultFormatter): BackgroundOutcome {
  const stateDelta = outcome.type === 'result' ? outcome.actions?.stateDelta : undefined
  return { response: formatter.formatResult(outcome.call, resultIn(responseOf(outcome))), stateDelta }
}

function responseOf(outcome: Outcome): JsonObject {
  if (outcome.type === 'result') return outcome.response
  const error = `Tool "${outcome.call.name}" asked a person while it ran in the background. Ask before, with requiresConfirmation.`
  return failure(outcome.call, 'EXECUTION_FAILED', error).response
}

function resultIn(response: JsonObject): BackgroundResult {
  if (typeof response.error !== 'string') return { result: response }
  return { error: response.error, ...(typeof response.errorCode === 'string' && { errorCode: response.errorCode }) }
}

/** The result of a body that was stopped. */
export function stoppedBody(call: CallState, entry: ToolEntry | undefined, reason: string): CallResult {
  if (entry?.tool.effect === 'none') return failure(call, 'CANCELLED', reason)
  return unknownOutcome(call, 'UNKNOWN_OUTCOME', `${reason} The call was running and may have taken effect.`)
}

// The event that ends a scope early, with a reason.
import { clip } from '../../../core/base/limits.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { EventErrorCode } from '../../../core/event/event.ts'
import type { EventDraft } from '../../dispatch/host.ts'
import type { ModelTurn, RunHost, ScopeFrame } from './run-host.ts'

/** Why a scope ends. */
interface ScopeEnding {
  /** The code on the event. */
  readonly errorCode: EventErrorCode
  /** The message on the event. Long messages are truncated. */
  readonly errorMessage: string
}

/** The event that ends a scope. */
export function endingEvent(run: RunHost, author: string, frame: ScopeFrame, ending: ScopeEnding): EventDraft {
  const event = run.recorder.draft(author, frame, undefined, {})
  event.errorCode = ending.errorCode
  event.errorMessage = clip(ending.errorMessage)
  return event
}

/**
 * Ends the scope of an agent whose model failed. The event has the message. The operator gets the whole error, too, unless it is
 * an answer of the provider: its message says what to do, and a stack would hide it.
 */
export function modelErrorEvent({ run, plan, frame, context }: ModelTurn, error: unknown): EventDraft {
  const { name } = plan.agent
  const errorMessage = messageOf(error)
  const problem = `The model of agent "${name}" failed: ${errorMessage}`
  if (isAnswerOfProvider(error)) run.services.logger.error(problem)
  else run.services.logger.error(problem, error)
  const event = endingEvent(run, name, frame, { errorCode: 'MODEL_ERROR', errorMessage })
  event.actions = context.take() ?? {}
  return event
}

/** Errors of providers say whether the request may be repeated. One with a cause may be a fault of the program. */
function isAnswerOfProvider(error: unknown): boolean {
  if (!(error instanceof Error) || error.cause !== undefined) return false
  return typeof (error as { isRetryable?: unknown }).isRetryable === 'boolean'
}

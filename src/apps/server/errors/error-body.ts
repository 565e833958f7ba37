import { clip } from '../../../core/base/limits.ts'
import { messageOf, ToolwrightError, type ToolwrightErrorCode } from '../../../core/error/error.ts'
import { hideSecrets } from '../../../core/error/hide-secrets.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import { withHttpAdvice } from './http-advice.ts'

/** What a client gets for an error: no stack, no path, no detail of the server. */
interface ErrorBody {
  /** The message. For a failure of the server it says nothing about its reason. */
  readonly error: string
  /** The code: docs/reference/errors.md. */
  readonly errorCode: ToolwrightErrorCode
  /** Names the request in the log of the operator. */
  readonly correlationId: string
}

/** An error as a response has it. */
interface DescribedError {
  /** The HTTP status. */
  readonly status: number
  /** The body. */
  readonly body: ErrorBody
}

/** The most characters of a message. */
const MAX_SHOWN = 2_000

const INTERRUPTED =
  'The server is stopping. A run that has started continues after the restart. Follow it with the id of its last event.'
const STORAGE = 'The store of the server failed. Try again later.'
const UNAVAILABLE = 'A service that the server needs, such as its identity provider, does not answer. Try again later.'
const INTERNAL = 'The server failed. The operator finds the reason in the log, under the correlation id.'

/**
 * Describes an error for the client. The message of an error that the caller can correct is passed on. Everything else is
 * logged with the correlation id, and the client gets that id.
 */
export function describeError(thrown: unknown, correlationId: string, logger: Logger): DescribedError {
  const error = thrown instanceof ToolwrightError ? thrown : undefined
  if (error && error.status < 500) {
    return {
      status: error.status,
      body: { error: shownMessage(error), errorCode: error.code, correlationId },
    }
  }
  if (error?.code === 'INTERRUPTED')
    return { status: error.status, body: { error: INTERRUPTED, errorCode: 'INTERRUPTED', correlationId } }
  report(logger, correlationId, thrown)
  if (error?.code === 'STORAGE' || error?.code === 'UNAVAILABLE') {
    const message = error.code === 'STORAGE' ? STORAGE : UNAVAILABLE
    return { status: error.status, body: { error: message, errorCode: error.code, correlationId } }
  }
  // the codes of a wrong configuration are for developers, who find them in the log
  return { status: 500, body: { error: INTERNAL, errorCode: 'INTERNAL', correlationId } }
}

/** A message may quote what the client sent, which may be as large as a body. A secret that the first cut splits is cut off. */
function shownMessage({ message }: ToolwrightError): string {
  return clip(withHttpAdvice(hideSecrets(clip(message))), MAX_SHOWN)
}

function report(logger: Logger, correlationId: string, thrown: unknown): void {
  try {
    logger.error(`Request ${correlationId} failed: ${messageOf(thrown)}`, thrown)
  } catch {} // the client gets its error also when the log fails
}

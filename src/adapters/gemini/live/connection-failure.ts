// Why a connection could not be made or was lost, and what may help.
import { messageOf } from '../../../core/error/error.ts'
import { LiveConnectionError } from '../../../engine/model/live-model.ts'
import { readFailure } from '../failure/failure.ts'
import { copyWithoutSecrets, hideKnownSecrets } from '../failure/hide-secrets.ts'
import { isRetryable } from '../failure/retry-delay.ts'

/** The connection that failed. */
export interface FailedConnection {
  /** Name of the model. */
  readonly name: string
  /** Whether it is a connection to Vertex AI. */
  readonly isVertex: boolean
  /** Whether the setup had the handle of an earlier connection. */
  readonly isResumed: boolean
  /** Texts that no error message may contain. */
  readonly secrets: readonly string[]
}

/** How a WebSocket ended. */
interface SocketEnd {
  /** The close code. */
  readonly code: number
  /** The reason that the service gave. */
  readonly reason: string
  /** The error of the socket before it closed. */
  readonly error: unknown
}

/** The error for a socket that closed. `isReady`: the service had accepted the setup. */
export function closedError(end: SocketEnd, of: FailedConnection, isReady: boolean): LiveConnectionError {
  const status = readStatus(end.error)
  const recover = status === undefined ? recoverFromClose(end, of) : recoverFromStatus(status)
  const why = status === undefined ? describeEnd(end) : `HTTP status ${status}`
  const what = isReady
    ? `The live connection to model "${of.name}" was lost`
    : `Model "${of.name}" did not accept the live connection`
  // a live session resumes by itself after a loss
  const advice = isReady && recover === 'resume' ? '' : ` ${adviceFor(recover, of)}`
  return liveError(`${what}: ${why}.${advice}`, of, {
    code: status ?? end.code,
    recover,
    cause: end.error,
  })
}

/** The error for a service that does not answer the setup in time. */
export function timeoutError(timeoutMs: number, of: FailedConnection): LiveConnectionError {
  const message = `Model "${of.name}" did not accept the live connection within ${timeoutMs} ms. Check baseUrl and the network, or raise connectTimeoutMs.`
  return liveError(message, of, { recover: 'resume' })
}

/** The error for an attempt that the caller aborted. */
export function abortedError(reason: unknown, of: FailedConnection): LiveConnectionError {
  return liveError(`The attempt to connect to live model "${of.name}" was aborted.`, of, {
    recover: 'nothing',
    cause: reason,
  })
}

/** The error for what the client threw while it connected, such as missing credentials. */
export function thrownError(thrown: unknown, of: FailedConnection): LiveConnectionError {
  const recover = isRetryable(readFailure(thrown, {})) ? 'resume' : 'nothing'
  const message = `Model "${of.name}" could not be connected: ${withoutStop(messageOf(thrown))}. ${adviceFor(recover, of)}`
  return liveError(message, of, { recover, cause: thrown })
}

/** The error for a message on a connection that is closed. */
export function notOpenError(of: FailedConnection): LiveConnectionError {
  return liveError(`The live connection to model "${of.name}" is closed. Connect again to send messages.`, of, {
    recover: 'nothing',
  })
}

function liveError(
  message: string,
  { secrets }: FailedConnection,
  { code, recover, cause }: { code?: number; recover: LiveConnectionError['recover']; cause?: unknown },
): LiveConnectionError {
  return new LiveConnectionError(hideKnownSecrets(message, secrets), {
    code,
    recover,
    ...(cause !== undefined && { cause: copyWithoutSecrets(cause, secrets) }),
  })
}

/** Reasons of a close with 1007 or 1008 that no other connection changes. */
const NO_ACCESS = /api[ _-]?key|credential|permission|unauthori[sz]ed|unauthenticated|denied|location is not supported/i
/** Reasons of a close with 1008 that Gemini also gives when a connection gets too old or a server stops. */
const INTERRUPTED = /\baborted\b|deadline|unavailable|timed out|going away/i

function recoverFromClose(
  { code, reason }: SocketEnd,
  { isResumed }: FailedConnection,
): LiveConnectionError['recover'] {
  if (code !== 1007 && code !== 1008) return 'resume'
  if (NO_ACCESS.test(reason)) return 'nothing'
  if (code === 1007) return isResumed ? 'fresh' : 'nothing'
  return INTERRUPTED.test(reason) ? 'resume' : 'nothing'
}

function recoverFromStatus(status: number): LiveConnectionError['recover'] {
  return status === 408 || status === 429 || status >= 500 ? 'resume' : 'nothing'
}

/** The status of a refused handshake. Only the message of the error has it. */
function readStatus(error: unknown): number | undefined {
  const status = /Unexpected server response: (\d{3})/.exec(error === undefined ? '' : messageOf(error))?.[1]
  return status === undefined ? undefined : Number(status)
}

function describeEnd({ code, reason, error }: SocketEnd): string {
  const detail = reason || (error === undefined ? '' : messageOf(error))
  return detail === '' ? `close code ${code}` : `close code ${code}, ${withoutStop(detail)}`
}

const withoutStop = (text: string): string => text.trim().replace(/\.$/, '')

function adviceFor(recover: LiveConnectionError['recover'], { isVertex }: FailedConnection): string {
  if (recover === 'resume') return 'Check baseUrl and the network, and connect again.'
  if (recover === 'fresh') return 'The handle may have expired: connect without a handle.'
  const access = isVertex ? 'the credentials, the project and the location' : 'the API key'
  return `Check ${access}, the name of the model, and the settings and tools of the session.`
}

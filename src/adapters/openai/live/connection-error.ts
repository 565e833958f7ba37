import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { LiveConnectionError } from '../../../engine/model/live-model.ts'
import { readError } from './event-reader.ts'

/** Errors that a new connection with the same settings gets again. */
const PERMANENT = /^(invalid_api_key|invalid_request_error|authentication_error|permission_error|insufficient_quota)$/

/** The provider reported an error instead of accepting the session. */
export function refusedSetup(name: string, event: JsonObject): LiveConnectionError {
  const { code, type } = isRecord(event.error) ? event.error : {}
  const isPermanent = [code, type].some((one) => typeof one === 'string' && PERMANENT.test(one))
  return new LiveConnectionError(`Model "${name}" refused the session: ${readError(event).message}`, {
    recover: isPermanent ? 'nothing' : 'fresh',
  })
}

/** The handshake was refused, or the provider was not reached. */
export function failedHandshake(name: string, status: number | undefined, cause: unknown): LiveConnectionError {
  if (status === 401 || status === 403)
    return new LiveConnectionError(
      `Model "${name}" refused the connection with status ${status}. Check the API key and its access to the model.`,
      { code: status, recover: 'nothing' },
    )
  const reason = status === undefined ? '' : ` The status was ${status}.`
  return new LiveConnectionError(
    `The connection to model "${name}" could not be made.${reason} Check baseUrl and the network.`,
    { code: status, recover: 'fresh', cause },
  )
}

/** The connection ended before the session was ready, or while it was in use. */
export function lostConnection(name: string, closed: unknown, lastError: JsonObject | undefined): LiveConnectionError {
  // events of WebSockets are class instances: their members are inherited getters
  const { code, reason } = (closed ?? {}) as { code?: unknown; reason?: unknown }
  const text = typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''
  const error = lastError ? ` The last error was: ${readError(lastError).message}` : ''
  const isKeyRefused = isRecord(lastError?.error) && lastError.error.code === 'invalid_api_key'
  return new LiveConnectionError(`The connection to model "${name}" was closed with code ${code}${text}.${error}`, {
    code: typeof code === 'number' ? code : undefined,
    recover: isKeyRefused ? 'nothing' : 'fresh',
  })
}

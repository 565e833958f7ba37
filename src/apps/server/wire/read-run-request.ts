import type { JsonObject } from '../../../core/base/json.ts'
import type { Content } from '../../../core/content/content.ts'
import { type Fields, invalid } from './fields.ts'
import { readContent } from './read-content.ts'

/** The body of `/run` and `/run_sse`. */
export interface RunRequestBody {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The message; undefined to continue an interrupted invocation. */
  readonly newMessage: Content | undefined
  /** The invocation to continue. */
  readonly invocationId: string | undefined
  /** Sends partial events. */
  readonly streaming: boolean
  /** State changes recorded with the message. */
  readonly stateDelta: JsonObject | undefined
  /** Recorded with each event of the run. */
  readonly customMetadata: JsonObject | undefined
}

/** Reads the body of `/run` and `/run_sse`. Throws INVALID_REQUEST. */
export function readRunRequest(body: Fields): RunRequestBody {
  const message = body.value('newMessage')
  body.optionalText('functionCallEventId') // accepted, and not needed: an answer names its request
  const request = {
    appName: body.text('appName'),
    userId: body.text('userId'),
    sessionId: body.text('sessionId'),
    newMessage: message === undefined ? undefined : readContent(message, 'newMessage'),
    invocationId: body.optionalText('invocationId'),
    streaming: body.flag('streaming'),
    stateDelta: body.optionalObject('stateDelta'),
    customMetadata: body.optionalObject('customMetadata'),
  }
  if (!request.newMessage && request.invocationId === undefined) {
    throw invalid(
      'newMessage is missing. Send a message, or the invocationId of an interrupted invocation to continue it.',
    )
  }
  return request
}

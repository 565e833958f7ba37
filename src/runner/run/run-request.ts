// What callers ask runs for, checked.
import type { JsonObject } from '../../base/json.ts'
import type { Content } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { RunConfig } from '../../tool/run-config.ts'
import type { RunContext } from '../../tool/run-context.ts'
import { toStateDelta } from '../../tool/state.ts'
import { checkMetadataSize, mayHoldCode, toContent } from '../request-rules.ts'
import type { RunServices } from '../run-services.ts'
import type { LiveRunRequest, RunOptions } from '../runner-options.ts'
import type { LiveDriver } from './live-driver.ts'

/** What a caller asks a run for. */
export interface RunRequest {
  /** The user of the session. */
  readonly userId: string
  /** The session to run. */
  readonly sessionId: string
  /** Empty for answers and for `resume` without an id: the log decides which invocation continues. */
  readonly invocationId: string
  /** Absent = resume. */
  readonly message?: Content | undefined
  /** Whether the message may hold an authorization code, which must not be stored. Absent = no. */
  readonly mayHoldCode?: boolean | undefined
  /** State changes recorded together with the message. */
  readonly stateDelta?: JsonObject | undefined
  /** Streaming, limits and metadata of this run. */
  readonly runConfig: RunConfig
  /** The caller's values for tools and callbacks. */
  readonly runContext: RunContext | undefined
  /** Cancels the run. */
  readonly signal: AbortSignal | undefined
  /** Whether the session does not exist yet. */
  readonly isNew: boolean
  /** Does a consumer read the events? Absent = no. */
  readonly hasConsumer?: (() => boolean) | undefined
  /** The live session that drives the run, which has no message. Absent = the agent loop drives it. */
  readonly live?: LiveDriver | undefined
  /** Did the caller cancel before the run started? Absent = no. */
  readonly isCancelled?: (() => boolean) | undefined
}

/** The request of `runner.run()`. Throws INVALID_REQUEST if the message is invalid. */
export function toRunRequest(options: RunOptions, { ports, maxResultBytes }: RunServices): RunRequest {
  const { userId, sessionId, message: input, stateDelta, runConfig = {}, runContext, signal } = options
  const message = toContent(input, maxResultBytes)
  checkMetadataSize(runConfig)
  const isAnswer = message.parts.some((part) => part.functionResponse)
  if (isAnswer && sessionId === undefined) {
    throw new ToolwrightError(
      'INVALID_REQUEST',
      'sessionId is required when answering a pending request. Pass the sessionId of the request.',
    )
  }
  return {
    userId,
    sessionId: sessionId ?? ports.newId(),
    invocationId: isAnswer ? '' : `e-${ports.newId()}`,
    message,
    mayHoldCode: isAnswer && message.parts.some(mayHoldCode),
    stateDelta: stateDelta && toStateDelta(stateDelta),
    runConfig,
    runContext,
    signal,
    isNew: sessionId === undefined,
  }
}

/** A live session to start. */
export interface LiveStart {
  /** Whose session it is. */
  readonly request: LiveRunRequest
  /** Drives the run. */
  readonly live: LiveDriver
}

/** The request of a live session. It may last for hours, so that its model calls are not limited by default. */
export function toLiveRequest({ request, live }: LiveStart, { ports }: RunServices): RunRequest {
  const { userId, sessionId, stateDelta, runConfig = {}, runContext } = request
  checkMetadataSize(runConfig)
  return {
    userId,
    sessionId: sessionId ?? ports.newId(),
    invocationId: `e-${ports.newId()}`,
    stateDelta: stateDelta && toStateDelta(stateDelta),
    runConfig: { maxLlmCalls: Number.POSITIVE_INFINITY, ...runConfig },
    runContext,
    signal: undefined,
    isNew: sessionId === undefined,
    live,
  }
}

/** The request that continues an invocation with the result of a background call. */
export function toResultRequest(
  { userId, sessionId }: Pick<RunRequest, 'userId' | 'sessionId'>,
  message: Content,
  stateDelta: JsonObject | undefined,
): RunRequest {
  const base = { runConfig: {}, runContext: undefined, signal: undefined, isNew: false, invocationId: '' }
  return { userId, sessionId, message, stateDelta, ...base }
}

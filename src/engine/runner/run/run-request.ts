import type { JsonObject } from '../../../core/base/json.ts'
import type { Content } from '../../../core/content/content.ts'
import type { HeldSlot } from '../../../services/limit/slot-line.ts'
import type { ClaimOptions } from '../../../services/session/service.ts'
import type { RunConfig } from '../../context/run-config.ts'
import type { RunContext } from '../../context/run-context.ts'
import type { LiveRunRequest } from '../runner-options.ts'
import type { LiveDriver } from './live-driver.ts'
import type { Tick } from './recorded-tick.ts'

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
  /** Whether the message is the result of a background call, from its body. Absent = a client sent the message. */
  readonly isResult?: boolean | undefined
  /** The tick of a schedule that the message belongs to. Absent = none. */
  readonly tick?: Tick | undefined
  /** Whether to refuse the start if the session neither has interrupted work nor posted answers. Absent = no. */
  readonly needsWork?: boolean | undefined
  /** Set if a worker starts the run, without a caller. */
  readonly unattended?: Unattended | undefined
  /** The slots of the run, which it releases. Absent = the runner has no limits, or they are not taken yet. */
  readonly slots?: HeldSlot | undefined
  /** State changes recorded together with the message. */
  readonly stateDelta?: JsonObject | undefined
  /** Streaming, limits and metadata of this run. */
  readonly runConfig: RunConfig
  /** The caller's values for tools and callbacks. */
  readonly runContext: RunContext | undefined
  /** The span that the run belongs to, a W3C `traceparent`. Absent = the active one of the caller. */
  readonly traceparent?: string | undefined
  /** Cancels the run. */
  readonly signal: AbortSignal | undefined
  /** Whether the session does not exist yet. */
  readonly isNew: boolean
  /** The handle of the run. Absent: no consumer reads the events, and only `signal` cancels the start. */
  readonly caller?: RunCaller | undefined
  /** The live session that drives the run, which has no message. Absent = the agent loop drives it. */
  readonly live?: LiveDriver | undefined
}

/** How a worker claims a session. */
export interface Unattended extends ClaimOptions {
  /** How many processes in a row may have died with the session. One more does not try: the session is set aside. */
  readonly maxCrashes: number
}

/** Who has asked for a run, as the run that starts sees it. */
export interface RunCaller {
  /** Did the caller cancel before the run started? */
  isCancelled(): boolean
  /** Does a consumer read the events? */
  hasConsumer(): boolean
}

/** A live session to start. */
export interface LiveStart {
  /** Whose session it is. */
  readonly request: LiveRunRequest
  /** Drives the run. */
  readonly live: LiveDriver
}

import type { JsonObject } from '../../../core/base/json.ts'
import { NOT_RUN } from '../../../core/event/invocation-state.ts'

/** How many tool calls a live session runs. */
export interface CallLimitOptions {
  /** Calls of the whole session. Default 5,000. */
  readonly maxToolCalls?: number | undefined
  /** Calls within a minute. Default 1,000. */
  readonly maxToolCallsPerMinute?: number | undefined
  /** Milliseconds on a clock that is never set. */
  now(): number
}

const MINUTE_MS = 60_000
const MAX_TOOL_CALLS = 5_000
const MAX_TOOL_CALLS_PER_MINUTE = 1_000

/** Counts the calls of a live session. A model may call without end, and every call costs a record and a reply. */
export class CallLimit {
  readonly #options: Required<CallLimitOptions> & {
    readonly maxToolCalls: number
    readonly maxToolCallsPerMinute: number
  }
  #count = 0
  /** Calls that may be made now. They come back over a minute. */
  #left: number
  #at: number

  constructor({
    maxToolCalls = MAX_TOOL_CALLS,
    maxToolCallsPerMinute = MAX_TOOL_CALLS_PER_MINUTE,
    now,
  }: CallLimitOptions) {
    this.#options = { maxToolCalls, maxToolCallsPerMinute, now }
    this.#left = maxToolCallsPerMinute
    this.#at = now()
  }

  /** Has the session had more calls than it may have? */
  get isOver(): boolean {
    return this.#count > this.#options.maxToolCalls
  }

  /** Why the session ends. */
  get problem(): string {
    const { maxToolCalls } = this.#options
    return `The live session has used its ${maxToolCalls} tool calls. Raise maxToolCalls of connectLive() to allow more.`
  }

  /** Counts a call. Returns the response of a call that does not run. */
  take(): JsonObject | undefined {
    this.#count++
    const { maxToolCalls, maxToolCallsPerMinute, now } = this.#options
    if (this.isOver) return notRun(`the session has used its ${maxToolCalls} tool calls, and ends`)
    const time = now()
    const refilled = (maxToolCallsPerMinute * (time - this.#at)) / MINUTE_MS
    this.#at = time
    this.#left = Math.min(maxToolCallsPerMinute, this.#left + refilled)
    if (this.#left < 1)
      return notRun(`${maxToolCallsPerMinute} calls a minute are allowed. Wait before you call a tool again`)
    this.#left--
    return undefined
  }
}

function notRun(reason: string): JsonObject {
  return { error: `This call was not run: ${reason}.`, errorCode: 'CANCELLED', status: NOT_RUN }
}

import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { type FunctionCall, type FunctionResponse, isHandle } from '../../../core/content/content.ts'
import { isSameJson } from '../../../engine/flow/state/is-same-json.ts'
import type { LiveToolCall } from '../../../engine/model/live-model.ts'
import type { BackgroundOptions } from '../../../engine/policy/background.ts'
import {
  type BackgroundResult,
  defaultFormatter,
  type ResultFormatter,
} from '../../../engine/policy/result-formatter.ts'
import type { Tool } from '../../../engine/tool/tool.ts'

/** What the model has been told about a call. `interim`: more follows, as after an acknowledgement. */
type Told =
  | { readonly told: 'nothing' }
  | { readonly told: 'interim' }
  | { readonly told: 'result'; readonly response: FunctionResponse }

/** How a call is recorded and run. */
interface Accepted {
  /** The call as recorded. */
  readonly logged: FunctionCall
  /** Set if the call runs in the background. */
  readonly background: BackgroundOptions | undefined
  /**
   * `several`: the model goes on while the call runs, and takes handles, `scheduling` and further responses. `one`: the first response
   * ends the call at the provider, also if the body turns out to wait for a person.
   */
  readonly responses: 'one' | 'several'
}

/** One call of a live model: its id at the provider, its id in the log, and what the model has been told about it. */
export class ModelCall {
  /** The call as the provider sent it. */
  readonly call: LiveToolCall
  #place: number
  #refusal: JsonObject | undefined
  #accepted: Accepted | undefined
  #told: Told = { told: 'nothing' }
  /** A call that the model cancelled gets no response. */
  #cancelledBy: 'model' | 'app' | undefined
  /** `forgotten`: the call was made on a connection that could not be resumed. */
  #memory: 'known' | 'forgotten' = 'known'

  /** `place`: where the call is in the conversation. `refusal`: the response of a call that a limit does not let run. */
  constructor(call: LiveToolCall, place: number, refusal?: JsonObject) {
    this.call = call
    this.#place = place
    this.#refusal = refusal
  }

  /** The call is in the log. */
  accept(accepted: Accepted): void {
    this.#accepted = accepted
  }

  /** The call does not run. It keeps an earlier refusal. */
  refuse(refusal: JsonObject): void {
    this.#refusal ??= refusal
  }

  /** The call is cancelled. What the model cancelled stays so. */
  cancel(by: 'model' | 'app'): void {
    if (this.#cancelledBy !== 'model') this.#cancelledBy = by
  }

  /** Is it the same call again? A model may use an id for another call, such as one whose first use it has forgotten. */
  isRepeatedBy({ name, args }: LiveToolCall): boolean {
    return name === this.call.name && isSameJson(args, this.call.args)
  }

  /** The model shows that it knows the call, at this place of the conversation. */
  remember(place: number): void {
    if (this.#memory === 'forgotten') this.#place = place
    this.#memory = 'known'
  }

  /** The model knows calls up to a place of the conversation. Undefined: it knows none. */
  forgetAfter(place: number | undefined): void {
    if (place === undefined || this.#place > place) this.#memory = 'forgotten'
  }

  /** The id in the log. Undefined until the call is recorded. */
  get logId(): string | undefined {
    return this.#accepted?.logged.id
  }
  /** The call as recorded. */
  get logged(): FunctionCall {
    return this.#accepted?.logged ?? this.call
  }
  /** Set if the call runs in the background. */
  get background(): BackgroundOptions | undefined {
    return this.#accepted?.background
  }
  /** The response of a call that a limit of the session, or a callback, does not let run. */
  get refusal(): JsonObject | undefined {
    return this.#refusal
  }
  /** Does the model no longer wait for the call? */
  get isCancelled(): boolean {
    return this.#cancelledBy === 'model'
  }
  /** Does the model wait for a first response? */
  get isUntold(): boolean {
    return this.#told.told === 'nothing'
  }
  /** The last response that was sent. Undefined until then. */
  get result(): FunctionResponse | undefined {
    return this.#told.told === 'result' ? this.#told.response : undefined
  }
  get #takesSeveral(): boolean {
    return this.#accepted?.responses === 'several'
  }
  /** Does the model take a response by the id of the call? */
  get #isReachable(): boolean {
    return !this.isCancelled && this.#memory === 'known'
  }
  /** Must a response be sent as a message, because the model takes no response for the call any more? */
  get needsMessage(): boolean {
    return this.#memory === 'forgotten' || (!this.isUntold && !this.#takesSeveral)
  }

  /** The acknowledgement of a background call: silent, and more follows. Undefined if the model no longer waits. */
  acknowledge(): FunctionResponse | undefined {
    if (!this.#isReachable) return undefined
    this.#told = { told: 'interim' }
    const response = this.#formatted((formatter) => formatter.formatRunning(this.logged))
    return this.#response(response, this.#takesSeveral ? { willContinue: true, scheduling: 'SILENT' } : {})
  }

  /** The first response of a call that waits for a human. Undefined if the model cannot go on meanwhile. */
  waitForHuman(hint: string | undefined): FunctionResponse | undefined {
    if (!this.#takesSeveral || !this.isUntold || !this.#isReachable) return undefined
    this.#told = { told: 'interim' }
    const message = 'Waiting for a person. Do not repeat the call: its result follows.'
    const response = { status: 'waiting', tool: this.call.name, message, ...(hint !== undefined && { hint }) }
    return this.#response(response, { willContinue: true, scheduling: 'WHEN_IDLE' })
  }

  /** An update with progress of a background call. Undefined for other calls. */
  update(value: unknown): FunctionResponse | undefined {
    if (!this.#takesSeveral || !this.background || !this.#isReachable) return undefined
    const { value: plain } = toJsonValue(value)
    return this.#response(isRecord(plain) ? plain : { output: plain }, { willContinue: true, scheduling: 'SILENT' })
  }

  /** The response for the model, from the one that is recorded. */
  respond(recorded: FunctionResponse): FunctionResponse {
    const isFirst = this.isUntold
    const body = this.#bodyOf(recorded)
    if (isHandle(recorded)) {
      this.#told = { told: 'interim' }
      return this.#response(body, this.#takesSeveral ? { willContinue: true, scheduling: 'WHEN_IDLE' } : {})
    }
    const scheduling = this.background?.scheduling ?? 'WHEN_IDLE'
    const response = this.#response(body, this.#takesSeveral && !isFirst ? { willContinue: false, scheduling } : {})
    this.#told = { told: 'result', response }
    return response
  }

  /** What the model reads of a recorded response. */
  #bodyOf(recorded: FunctionResponse): JsonObject {
    const shown = recorded.modelOutput?.response ?? recorded.response
    if (!this.background || this.isUntold || isHandle(recorded)) return shown // a refused call has no acknowledgement
    const hasFailed = typeof shown.error === 'string'
    if (shown.errorCode === 'CANCELLED' || (this.#cancelledBy === 'app' && hasFailed))
      return this.#formatted((formatter) => formatter.formatCancelled(this.call.id))
    const outcome: BackgroundResult =
      typeof shown.error === 'string'
        ? { error: shown.error, ...(typeof shown.errorCode === 'string' && { errorCode: shown.errorCode }) }
        : { result: shown }
    return this.#formatted((formatter) => formatter.formatResult(this.logged, outcome))
  }

  /** The object of the formatter, or of the default one if it throws or returns no object. */
  #formatted(format: (formatter: ResultFormatter) => unknown): JsonObject {
    try {
      const { value } = toJsonValue(format(this.background?.formatter ?? defaultFormatter))
      if (isRecord(value)) return value
    } catch {
      // the default below
    }
    return format(defaultFormatter) as JsonObject
  }

  #response(response: JsonObject, more: Pick<FunctionResponse, 'willContinue' | 'scheduling'>): FunctionResponse {
    return { id: this.call.id, name: this.call.name, response, ...more }
  }
}

/** Does the model go on while a call of the tool runs? Only such a call may get several responses. */
export function isNonBlocking(
  tool: Tool | undefined,
  background: BackgroundOptions | undefined,
  nonBlocking: boolean,
): boolean {
  if (!tool || !nonBlocking) return false
  const { isLongRunning, requiresConfirmation, authConfig } = tool
  return Boolean(background || isLongRunning || requiresConfirmation || authConfig !== undefined)
}

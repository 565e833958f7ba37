import { isRecord, type JsonObject } from '../../base/json.ts'
import { toJsonValue } from '../../base/to-json-value.ts'
import { type FunctionCall, type FunctionResponse, isHandle } from '../../content/content.ts'
import { isSameJson } from '../../flow/state/is-same-json.ts'
import type { BackgroundOptions } from '../../policy/background.ts'
import { type BackgroundResult, defaultFormatter, type ResultFormatter } from '../../policy/result-formatter.ts'
import type { LiveToolCall } from '../../tool/live-model.ts'

/** One call of a live model: its id at the provider, its id in the log, and what the model has been told about it. */
export class WireCall {
  /** The call as the provider sent it. */
  readonly call: LiveToolCall
  /** The response of a call that a limit of the session, or a callback, does not let run. */
  refusal: JsonObject | undefined
  /** The place of the call in the conversation. */
  place: number
  /** The call as recorded. */
  #logged: FunctionCall | undefined
  /** Set if the call runs in the background. */
  background: BackgroundOptions | undefined
  /**
   * The model goes on while the call runs, and takes `willContinue`, `scheduling` and further responses. Otherwise the first response
   * ends the call at the provider, also if the body turns out to wait for a person.
   */
  #isNonBlocking = false
  /** The model no longer waits for the call. */
  isCancelled = false
  /** The app cancelled the call. */
  isCancelledHere = false
  /** The model no longer knows the call: it was made on a connection that could not be resumed. */
  isForgotten = false
  /** The model has a first response, such as an acknowledgement. */
  isInterim = false
  /** The last response that was sent. */
  final: FunctionResponse | undefined

  constructor(call: LiveToolCall, place: number, refusal?: JsonObject) {
    this.call = call
    this.place = place
    this.refusal = refusal
  }

  /** The call is in the log. `isNonBlocking`: its tool is declared so that the model goes on. */
  accept(logged: FunctionCall, background: BackgroundOptions | undefined, isNonBlocking: boolean): void {
    this.#logged = logged
    this.background = background
    this.#isNonBlocking = isNonBlocking
  }

  /** Is it the same call again? A model may use an id for another call, such as one whose first use it has forgotten. */
  isRepeatedBy({ name, args }: LiveToolCall): boolean {
    return name === this.call.name && isSameJson(args, this.call.args)
  }

  /** The model shows that it knows the call, at this place of the conversation. */
  remember(place: number): void {
    if (this.isForgotten) this.place = place
    this.isForgotten = false
  }

  /** The id in the log. Undefined until the call is recorded. */
  get logId(): string | undefined {
    return this.#logged?.id
  }
  /** The call as recorded. */
  get logged(): FunctionCall {
    return this.#logged ?? this.call
  }
  get #formatter(): ResultFormatter {
    return this.background?.formatter ?? defaultFormatter
  }

  /** The acknowledgement of a background call: silent, and more follows. Undefined if the model no longer waits. */
  acknowledge(): FunctionResponse | undefined {
    if (this.isCancelled || this.isForgotten) return undefined
    this.isInterim = true
    const response = this.#formatted((formatter) => formatter.formatRunning(this.logged))
    return this.#wire(response, this.#isNonBlocking ? { willContinue: true, scheduling: 'SILENT' } : {})
  }

  /** The first response of a call that waits for a human. Undefined if the model cannot go on meanwhile. */
  waitForHuman(hint: string | undefined): FunctionResponse | undefined {
    if (!this.#isNonBlocking || this.isInterim || this.isCancelled || this.isForgotten) return undefined
    this.isInterim = true
    const message = 'Waiting for a person. Do not repeat the call: its result follows.'
    const response = { status: 'waiting', tool: this.call.name, message, ...(hint !== undefined && { hint }) }
    return this.#wire(response, { willContinue: true, scheduling: 'WHEN_IDLE' })
  }

  /** An update with progress of a background call. Undefined for other calls. */
  update(value: unknown): FunctionResponse | undefined {
    if (!this.#isNonBlocking || !this.background || this.isCancelled || this.isForgotten) return undefined
    const { value: plain } = toJsonValue(value)
    return this.#wire(isRecord(plain) ? plain : { output: plain }, { willContinue: true, scheduling: 'SILENT' })
  }

  /** Must a response be sent as a message, because the model takes no response for the call any more? */
  needsContent(): boolean {
    return this.isForgotten || (this.isInterim && !this.#isNonBlocking)
  }

  /** The response for the model. */
  respond(response: FunctionResponse): FunctionResponse {
    const body = this.format(response)
    if (isHandle(response)) {
      this.isInterim = true
      return this.#wire(body, this.#isNonBlocking ? { willContinue: true, scheduling: 'WHEN_IDLE' } : {})
    }
    const scheduling = this.background?.scheduling ?? 'WHEN_IDLE'
    this.final = this.#wire(body, this.#isNonBlocking && this.isInterim ? { willContinue: false, scheduling } : {})
    return this.final
  }

  /** What the model reads of a recorded response. */
  format(given: FunctionResponse): JsonObject {
    const { response, modelOutput } = given
    const shown = modelOutput?.response ?? response
    if (!this.background || !this.isInterim || isHandle(given)) return shown // a refused call has no acknowledgement
    const hasFailed = typeof shown.error === 'string'
    if (shown.errorCode === 'CANCELLED' || (this.isCancelledHere && hasFailed))
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
      const { value } = toJsonValue(format(this.#formatter))
      if (isRecord(value)) return value
    } catch {
      // the default below
    }
    return format(defaultFormatter) as JsonObject
  }

  #wire(response: JsonObject, more: Pick<FunctionResponse, 'willContinue' | 'scheduling'>): FunctionResponse {
    return { id: this.call.id, name: this.call.name, response, ...more }
  }
}

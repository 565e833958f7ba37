import type { JsonObject } from '../../../../core/base/json.ts'
import type { RealtimeFinishOptions } from '../../openai-realtime-connection.ts'

/** A response that is being generated. */
interface ActiveResponse {
  /** The id. */
  readonly id: string
  /** Its finished items. */
  readonly output: JsonObject[]
  /** Did the client request it? */
  readonly isRequested: boolean
}

/** What responses need of their conversation. */
interface ResponseOptions {
  /** Sends an event to the client. */
  emit(event: JsonObject): void
  /** Records a problem of the client. */
  report(problem: string): void
  /** Refuses an event of the client. */
  refuse(event: JsonObject, error: { readonly message: string; readonly code: string }): void
}

/** The responses of a conversation: at most one at a time. */
export class Responses {
  /** The response that is being generated. */
  active: ActiveResponse | undefined
  readonly #options: ResponseOptions
  #started = 0

  constructor(options: ResponseOptions) {
    this.#options = options
  }

  /** Starts a response. */
  start(isRequested: boolean): ActiveResponse {
    this.active = { id: `resp_${++this.#started}`, output: [], isRequested }
    const response = { object: 'realtime.response', id: this.active.id, status: 'in_progress', output: [] }
    this.#options.emit({ type: 'response.created', response })
    return this.active
  }

  /** Finishes the active response. */
  finish({ status = 'completed', reason, error, usage = USAGE }: RealtimeFinishOptions): void {
    if (!this.active) throw new Error('No response is active. Wait for response.create, or call say() or call() first.')
    const { id, output } = this.active
    this.active = undefined
    const status_details = { type: status, ...(reason !== undefined && { reason }), ...(error && { error }) }
    const response = { object: 'realtime.response', id, status, status_details, output, usage }
    this.#options.emit({ type: 'response.done', response })
  }

  /** Reacts to `response.create`, or to the end of the user's speech. */
  create(event: JsonObject, isRequested: boolean): void {
    if (!this.active) {
      this.start(isRequested)
      return
    }
    // the client cannot know of a response that the server has just started by itself
    const { id } = this.active
    if (isRequested && this.active.isRequested) this.#options.report(`response.create: response ${id} is active`)
    this.#options.refuse(event, {
      message: `Conversation already has an active response in progress: ${id}. Wait until the response is finished before creating a new one.`,
      code: 'conversation_already_has_active_response',
    })
  }

  /** Reacts to `response.cancel`. */
  cancel(event: JsonObject): void {
    const isActive = this.active && (event.response_id === undefined || event.response_id === this.active.id)
    if (isActive) this.finish({ status: 'cancelled', reason: 'client_cancelled' })
    else {
      const message = 'Cancellation failed: no active response found'
      this.#options.refuse(event, { message, code: 'response_cancel_not_active' })
    }
  }
}

const USAGE: JsonObject = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: { text_tokens: 12, audio_tokens: 8, image_tokens: 0, cached_tokens: 4 },
  output_token_details: { text_tokens: 4, audio_tokens: 6 },
}

// The state of one conversation, and how the API reacts to the events of a client.
import type { JsonObject } from '../../../../core/base/json.ts'
import { clientEventProblems } from './client-events.ts'
import { defaultSession, updateSession } from './default-session.ts'
import { Responses } from './responses.ts'

/** What a conversation needs of its connection. */
interface ConversationOptions {
  /** The model of the session. */
  readonly model: string
  /** Are updates of the session answered? */
  readonly acceptsSetup: boolean
  /** Sends an event to the client. */
  emit(event: JsonObject): void
  /** Records a problem of the client. */
  report(problem: string): void
}

/** A conversation of a client with the local server. */
export class Conversation {
  /** The items, in order. */
  readonly items: JsonObject[] = []
  /** The responses. */
  readonly responses: Responses
  /** The settings. */
  session: JsonObject
  readonly #options: ConversationOptions
  #bufferedAudio = 0
  #ids = 0

  constructor(options: ConversationOptions) {
    this.#options = options
    this.session = defaultSession(options.model)
    const { emit, report } = options
    this.responses = new Responses({ emit, report, refuse: (event, error) => this.#refuse(event, error) })
  }

  /** Reacts to an event of the client. */
  handle(event: JsonObject): void {
    const problems = clientEventProblems(event)
    for (const problem of problems) this.#options.report(problem)
    if (problems.length > 0) this.#refuse(event, { message: `${problems[0]}.`, code: 'invalid_value' })
    else this.#react(event)
  }

  /** An id such as `item_1`. */
  newId(prefix: string): string {
    return `${prefix}_${++this.#ids}`
  }

  /** Adds an item to the conversation. */
  addItem(item: JsonObject): void {
    const previous_item_id = this.items.at(-1)?.id ?? null
    this.items.push(item)
    this.#options.emit({ type: 'conversation.item.added', previous_item_id, item })
    this.#options.emit({ type: 'conversation.item.done', previous_item_id, item })
  }

  /** Turns the audio buffer into an item. */
  commit(): void {
    this.#bufferedAudio = 0
    const item = { id: this.newId('item'), type: 'message', role: 'user', content: [{ type: 'input_audio' }] }
    this.#options.emit({ type: 'input_audio_buffer.committed', item_id: item.id, previous_item_id: null })
    this.addItem(item)
  }

  #react(event: JsonObject): void {
    switch (event.type) {
      case 'session.update':
        this.session = updateSession(this.session, event.session as JsonObject) // its shape was checked
        if (this.#options.acceptsSetup) this.#options.emit({ type: 'session.updated', session: this.session })
        break
      case 'input_audio_buffer.append':
        this.#bufferedAudio += (event.audio as string).length // its shape was checked
        break
      case 'input_audio_buffer.clear':
        this.#bufferedAudio = 0
        this.#options.emit({ type: 'input_audio_buffer.cleared' })
        break
      case 'input_audio_buffer.commit':
        this.#tryCommit(event)
        break
      case 'conversation.item.create':
        this.#createItem(event)
        break
      case 'response.create':
        this.responses.create(event, true)
        break
      case 'response.cancel':
        this.responses.cancel(event)
        break
    }
  }

  #tryCommit(event: JsonObject): void {
    if (this.#bufferedAudio > 0) this.commit()
    else {
      this.#options.report('input_audio_buffer.commit: the buffer is empty')
      const message = 'Error committing input audio buffer: the buffer is empty.'
      this.#refuse(event, { message, code: 'input_audio_buffer_commit_empty' })
    }
  }

  #createItem(event: JsonObject): void {
    const item = { id: this.newId('item'), ...(event.item as JsonObject), object: 'realtime.item', status: 'completed' }
    const problem = this.#itemProblem(item)
    if (problem === undefined) this.addItem(item)
    else {
      this.#options.report(`conversation.item.create: ${problem}`)
      this.#refuse(event, { message: `${problem}.`, code: 'invalid_value' })
    }
  }

  #itemProblem(item: JsonObject): string | undefined {
    if (this.items.some(({ id }) => id === item.id)) return `item ${item.id} exists already`
    if (item.type !== 'function_call_output') return undefined
    const matching = this.items.filter(({ call_id }) => call_id === item.call_id)
    if (!matching.some(({ type }) => type === 'function_call')) return `call ${item.call_id} is not in the conversation`
    const hasOutput = matching.some(({ type }) => type === 'function_call_output')
    return hasOutput ? `call ${item.call_id} has an output already` : undefined
  }

  #refuse(event: JsonObject, error: { readonly message: string; readonly code: string }): void {
    const event_id = typeof event.event_id === 'string' ? event.event_id : null
    this.#options.emit({ type: 'error', error: { type: 'invalid_request_error', param: null, event_id, ...error } })
  }
}

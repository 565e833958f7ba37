import { encodeBase64 } from '../../../core/base/base64.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { LiveClientMessage } from '../../../engine/model/live-model.ts'
import { AudioInput } from './audio.ts'
import type { ReaderState } from './event-reader.ts'
import { type ItemContext, isReadableImage, toItems, toMessage, toResponse } from './items.ts'
import type { OpenAiRealtimeConfig } from './options.ts'
import { toUpdate } from './session-update.ts'

type Message<T extends LiveClientMessage['type']> = Extract<LiveClientMessage, { type: T }>

/** What a sender needs of its connection. */
interface SenderOptions {
  /** What is known of the conversation. */
  readonly state: ReaderState
  /** Settings of the session. */
  readonly config: OpenAiRealtimeConfig
  /** Creates an id of at most 32 characters. */
  newId(): string
  /** Sends an event to the provider. */
  write(event: JsonObject): void
}

/** Converts messages to events of the provider. */
export class MessageSender {
  readonly #options: SenderOptions
  readonly #items: ItemContext
  readonly #audio: AudioInput = new AudioInput()
  /** Audio of the provider's buffer that was neither committed nor cleared. */
  #buffer: 'empty' | 'filled' = 'empty'

  constructor(options: SenderOptions) {
    this.#options = options
    const { calls, names } = options.state
    this.#items = { calls, names, newId: options.newId }
  }

  /** Sends the events of a message. Throws INVALID_REQUEST for media that the provider cannot read. */
  send(message: LiveClientMessage): void {
    const { state, config, write } = this.#options
    switch (message.type) {
      case 'audio':
        this.#sendAudio(message)
        break
      case 'video':
        this.#addItems([this.#toFrame(message)])
        break
      case 'text':
        this.#sendText(message.text)
        break
      case 'content':
        this.#sendContent(message)
        break
      case 'toolResponses':
        this.#sendResponses(message)
        break
      case 'activity':
        this.#sendActivity(message.state)
        break
      case 'update':
        write(toUpdate(message, config, state.names))
        break
      default:
        unreachable(message)
    }
  }

  #sendAudio({ data, mimeType }: Message<'audio'>): void {
    const audio = this.#audio.convert(data, mimeType, this.#options.state.session.inputType)
    if (audio.length === 0) return
    this.#buffer = 'filled'
    this.#options.write({ type: 'input_audio_buffer.append', audio: encodeBase64(audio) })
  }

  #toFrame({ data, mimeType }: Message<'video'>): JsonObject {
    if (!isReadableImage(mimeType))
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `OpenAI Realtime cannot read video of type "${mimeType}". Send frames as image/jpeg or image/png.`,
      )
    const image_url = `data:${mimeType};base64,${encodeBase64(data)}`
    return toMessage('user', [{ type: 'input_image', image_url }], this.#items)
  }

  #sendText(text: string): void {
    if (text === '') return
    const last = this.#addItems([toMessage('user', [{ type: 'input_text', text }], this.#items)])
    this.#options.state.replies.request(last)
  }

  #sendContent({ contents, turnComplete, interrupts }: Message<'content'>): void {
    if (interrupts) this.#options.state.replies.cancel() // items alone never stop a reply here
    const last = this.#addItems(toItems(contents, this.#items))
    if (turnComplete) this.#options.state.replies.request(last)
  }

  #sendResponses({ responses }: Message<'toolResponses'>): void {
    const { replies } = this.#options.state
    const sent = responses.map((response) => ({ response, ...toResponse(response, this.#items) }))
    const last = this.#addItems(sent.flatMap(({ items }) => items))
    const reactions = sent.filter(({ needsReply }) => needsReply)
    if (reactions.some(({ response }) => response.scheduling === 'INTERRUPT')) replies.cancel()
    if (reactions.length > 0) replies.request(last)
  }

  /** Without turn detection, the client says where the user's turn starts and ends. */
  #sendActivity(activity: 'start' | 'end'): void {
    const { state, write } = this.#options
    if (state.session.detectsTurns) return
    const hadAudio = this.#buffer === 'filled'
    this.#buffer = 'empty'
    if (activity === 'start') {
      state.replies.cancel()
      if (hadAudio) write({ type: 'input_audio_buffer.clear' }) // audio before the start is not part of the turn
    } else if (hadAudio) {
      write({ type: 'input_audio_buffer.commit' })
      state.replies.request(undefined)
    }
  }

  /** Adds items to the conversation. Returns the id of the last one. */
  #addItems(items: readonly JsonObject[]): string | undefined {
    for (const item of items) this.#options.write({ type: 'conversation.item.create', item })
    return items.at(-1)?.id as string | undefined // every item is created with an id
  }
}

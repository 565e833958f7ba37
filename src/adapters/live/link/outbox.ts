import type { LiveClientMessage } from '../../../engine/model/live-model.ts'

/** How much audio is kept while there is no connection, in seconds. */
const MAX_AUDIO_SECONDS = 2
const DEFAULT_RATE = 16_000
const MAX_RATE = 48_000
const BYTES_PER_SAMPLE = 2
/** Most messages that are kept. */
const MAX_MESSAGES = 2_000

type Activity = LiveClientMessage & { type: 'activity' }

/**
 * What is sent while there is no connection: the last seconds of audio, the latest picture, activity and updates of the setup.
 * Messages of the conversation are not kept here: the session repeats them from what it knows.
 */
export class Outbox {
  #messages: LiveClientMessage[] = []
  #audioBytes = 0
  /** What the app has told the model last: that the user started to speak, or stopped. */
  #user: 'speaking' | 'silent' = 'silent'

  /** Keeps a message for the next connection. */
  add(message: LiveClientMessage): void {
    if (message.type === 'video') this.#messages = this.#messages.filter(({ type }) => type !== 'video')
    this.#messages.push(copyOf(message))
    if (this.#messages.length > MAX_MESSAGES) this.#drop(0)
    if (message.type !== 'audio') return
    this.#audioBytes += message.data.byteLength
    const most = MAX_AUDIO_SECONDS * BYTES_PER_SAMPLE * rateOf(message.mimeType)
    while (this.#audioBytes > most) this.#drop(this.#messages.findIndex(({ type }) => type === 'audio'))
  }

  /** Takes note of a message that was sent: a new connection must know that the user is speaking. */
  sent(message: LiveClientMessage): void {
    if (message.type === 'activity') this.#user = message.state === 'start' ? 'speaking' : 'silent'
  }

  /** Drops updates of the setup: the next connection is set up with what they say. */
  dropUpdates(): void {
    this.#messages = this.#messages.filter(({ type }) => type !== 'update' && type !== 'content')
  }

  /** Removes and returns all messages for a new connection. */
  takeAll(): LiveClientMessage[] {
    const start: Activity = { type: 'activity', state: 'start' }
    const messages = this.#user === 'speaking' ? [start, ...this.#messages] : this.#messages
    this.#messages = []
    this.#audioBytes = 0
    return messages
  }

  #drop(at: number): void {
    const [dropped] = this.#messages.splice(at, 1)
    if (dropped?.type === 'audio') this.#audioBytes -= dropped.data.byteLength
  }
}

/** The sender may use its buffer again. */
function copyOf(message: LiveClientMessage): LiveClientMessage {
  return message.type === 'audio' || message.type === 'video' ? { ...message, data: message.data.slice() } : message
}

function rateOf(mimeType: string): number {
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? DEFAULT_RATE)
  return Math.min(MAX_RATE, Math.max(1, rate))
}

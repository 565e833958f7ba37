import type { LiveClientMessage } from '../../tool/live-model.ts'

/** How much audio is kept while there is no connection, in seconds. */
const MAX_AUDIO_SECONDS = 2
const DEFAULT_RATE = 16_000
const BYTES_PER_SAMPLE = 2

/** What is sent while there is no connection: all messages, the last seconds of audio and the latest picture. */
export class Outbox {
  #messages: LiveClientMessage[] = []
  #audioBytes = 0

  /** Keeps a message for the next connection. */
  add(message: LiveClientMessage): void {
    if (message.type === 'video') this.#messages = this.#messages.filter(({ type }) => type !== 'video')
    this.#messages.push(message)
    if (message.type !== 'audio') return
    this.#audioBytes += message.data.byteLength
    const most = MAX_AUDIO_SECONDS * BYTES_PER_SAMPLE * rateOf(message.mimeType)
    while (this.#audioBytes > most && this.#dropOldestAudio());
  }

  #dropOldestAudio(): boolean {
    const at = this.#messages.findIndex(({ type }) => type === 'audio')
    const [dropped] = at < 0 ? [] : this.#messages.splice(at, 1)
    if (dropped?.type !== 'audio') return false
    this.#audioBytes -= dropped.data.byteLength
    return true
  }

  /** Removes and returns all messages. */
  takeAll(): LiveClientMessage[] {
    const messages = this.#messages
    this.#messages = []
    this.#audioBytes = 0
    return messages
  }
}

function rateOf(mimeType: string): number {
  return Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? DEFAULT_RATE)
}

import type { LiveClientMessage, LiveServerMessage } from '../../tool/live-model.ts'

const DEFAULT_RATE = 24_000
const BYTES_PER_SAMPLE = 2

/** How long no side has spoken. A model sends speech faster than it is played, so that its speech lasts longer than its messages. */
export class Quiet {
  /** When the latest message was sent or received. */
  #latest = 0
  /** When the speech of the model will have been played. */
  #playedAt = 0
  #isUserSpeaking = false

  /** A message was sent at this time. */
  sent(message: LiveClientMessage, now: number): void {
    this.#latest = now
    if (message.type === 'activity') this.#isUserSpeaking = message.state === 'start'
  }

  /** A message of the model has arrived at this time. */
  receive(message: LiveServerMessage, now: number): void {
    this.#latest = now
    if (message.type === 'activity') this.#isUserSpeaking = message.state === 'start'
    if (message.type === 'interrupted') this.#playedAt = now
    if (message.type === 'audio') this.#playedAt = Math.max(this.#playedAt, now) + durationOf(message)
  }

  /** Milliseconds since someone spoke; 0 while someone does. */
  forMs(now: number): number {
    return this.#isUserSpeaking ? 0 : Math.max(0, now - Math.max(this.#latest, this.#playedAt))
  }
}

function durationOf({ data, mimeType }: { readonly data: Uint8Array; readonly mimeType: string }): number {
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? DEFAULT_RATE)
  return (1_000 * data.byteLength) / (BYTES_PER_SAMPLE * Math.max(1, rate))
}

import { decodePcm, rateOf } from './pcm.ts'

/** Plays the sound of a model, one piece after the other. */
export class Speaker {
  readonly #context = new AudioContext()
  readonly #playing = new Set<AudioBufferSourceNode>()
  #end = 0

  /** Plays a piece after those before it. Sound that is not PCM is skipped. */
  play(data: string, mimeType: string): void {
    const rate = rateOf(mimeType)
    const samples = rate === undefined ? undefined : decodePcm(data)
    if (rate === undefined || !samples || samples.length === 0) return
    const buffer = this.#context.createBuffer(1, samples.length, rate)
    buffer.copyToChannel(samples, 0)
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(this.#context.destination)
    this.#end = Math.max(this.#end, this.#context.currentTime) + buffer.duration
    source.start(this.#end - buffer.duration)
    this.#playing.add(source)
    source.onended = () => this.#playing.delete(source)
  }

  /** Stops at once: the user speaks. */
  flush(): void {
    for (const source of this.#playing) source.stop()
    this.#playing.clear()
    this.#end = 0
  }

  /** Lets go of the speaker. */
  close(): void {
    this.flush()
    void this.#context.close()
  }
}

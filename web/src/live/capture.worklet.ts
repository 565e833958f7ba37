// Runs beside the page, in the thread of the sound: collects the samples of the microphone and passes them on.

declare function registerProcessor(name: string, processor: new () => object): void
declare const AudioWorkletProcessor: new () => { readonly port: MessagePort }

/** Samples per message: 43 ms at 48 kHz. */
const SIZE = 2048

class Capture extends AudioWorkletProcessor {
  #samples = new Float32Array(SIZE)
  #count = 0

  /** Called for each 128 samples. Returns true to be called again. */
  process([input]: readonly (readonly Float32Array[])[]): boolean {
    const channel = input?.[0]
    if (!channel) return true
    for (const sample of channel) {
      this.#samples[this.#count++] = sample
      if (this.#count < SIZE) continue
      this.port.postMessage(this.#samples, [this.#samples.buffer])
      this.#samples = new Float32Array(SIZE)
      this.#count = 0
    }
    return true
  }
}

registerProcessor('capture', Capture)

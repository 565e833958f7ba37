// Sound as 16 bit samples, which live models send and receive.

/** The rate at which models listen, in samples per second. */
export const INPUT_RATE = 16_000
/** The rate at which most models speak. */
const OUTPUT_RATE = 24_000

/** Turns samples of a microphone into 16 bit samples at the rate at which models listen. */
export class Resampler {
  readonly #step: number
  /** The position of the next sample, relative to the next chunk. */
  #position = 0
  #last = 0

  constructor(rate: number) {
    this.#step = rate / INPUT_RATE
  }

  /** Converts the next chunk. */
  convert(samples: Float32Array): Int16Array<ArrayBuffer> {
    const converted = new Int16Array(Math.max(0, Math.ceil((samples.length - this.#position) / this.#step)))
    let count = 0
    for (; this.#position < samples.length && count < converted.length; this.#position += this.#step) {
      const at = Math.floor(this.#position)
      const before = at === 0 ? this.#last : (samples[at - 1] ?? 0)
      const share = this.#position - at
      const value = before + ((samples[at] ?? 0) - before) * share
      converted[count++] = Math.max(-1, Math.min(1, value)) * 0x7fff
    }
    this.#position -= samples.length
    this.#last = samples.at(-1) ?? 0
    return converted.slice(0, count)
  }
}

/** How loud a chunk is, from 0 to 1. */
export function levelOf(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return Math.min(1, Math.sqrt(sum / Math.max(samples.length, 1)) * 4)
}

/** Writes 16 bit samples as base64, the first byte of each is the lower one. */
export function encodePcm(samples: Int16Array<ArrayBuffer>): string {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}

/** Reads samples from base64. Invalid data is silence. */
export function decodePcm(data: string): Float32Array<ArrayBuffer> {
  let text: string
  try {
    text = atob(data)
  } catch {
    return new Float32Array()
  }
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  const view = new DataView(bytes.buffer)
  const samples = new Float32Array(bytes.length >> 1)
  for (let at = 0; at < samples.length; at++) samples[at] = view.getInt16(at * 2, true) / 0x8000
  return samples
}

/** The rate in a media type such as `audio/pcm;rate=24000`. Undefined if the sound is not PCM. */
export function rateOf(mimeType: string): number | undefined {
  if (!/^audio\/(?:pcm|l16)\b/i.test(mimeType)) return undefined
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? OUTPUT_RATE)
  return rate >= 8_000 && rate <= 96_000 ? rate : undefined
}

import { ToolwrightError } from '../../../core/error/error.ts'
import { PCM, PCM_RATE } from './session-state.ts'

/** Converts the user's audio to the format of the session. Keeps the end of a chunk until the next one. */
export class AudioInput {
  #resampler: Resampler | undefined

  /** The chunk in the session's format. Throws INVALID_REQUEST for a type that cannot be converted. */
  convert(data: Uint8Array, mimeType: string, sessionType: string): Uint8Array {
    const [type = '', ...parameters] = mimeType.toLowerCase().split(/\s*;\s*/)
    const isPcm = type === PCM || type === 'audio/l16'
    if ((isPcm ? PCM : type) !== sessionType)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `OpenAI Realtime cannot read audio of type "${mimeType}": the session takes ${sessionType}. Convert the audio, or set config.audio.input.format.`,
      )
    const rate = Number(parameters.find((one) => one.startsWith('rate='))?.slice(5) ?? PCM_RATE)
    if (!isPcm || rate === PCM_RATE) return data
    if (!(rate >= 1_000 && rate <= 400_000))
      throw new ToolwrightError('INVALID_REQUEST', `The rate of audio "${mimeType}" must be a number of hertz.`)
    if (this.#resampler?.rate !== rate) this.#resampler = new Resampler(rate)
    return this.#resampler.convert(data)
  }
}

/** Changes the rate of 16-bit samples to 24 kHz, by linear interpolation across the borders of chunks. */
class Resampler {
  readonly rate: number
  /** The position of the next sample to write, in samples of the next chunk. */
  #at = 0
  #last = 0

  constructor(rate: number) {
    this.rate = rate
  }

  convert(data: Uint8Array): Uint8Array {
    const count = data.length >> 1
    if (count === 0) return new Uint8Array(0)
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    const sample = (index: number): number => (index < 0 ? this.#last : view.getInt16(index * 2, true))
    const step = this.rate / PCM_RATE
    const output = new DataView(new ArrayBuffer(Math.max(0, Math.ceil((count - 1 - this.#at) / step)) * 2))
    let at = this.#at
    let written = 0
    for (; at < count - 1 && written < output.byteLength; at += step, written += 2) {
      const index = Math.floor(at)
      const from = sample(index)
      output.setInt16(written, Math.round(from + (sample(index + 1) - from) * (at - index)), true)
    }
    this.#last = sample(count - 1)
    this.#at = at - count
    return new Uint8Array(output.buffer, 0, written)
  }
}

/** The bytes of base64 text. Undefined if it is malformed. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text)
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
    return bytes
  } catch {
    return undefined
  }
}

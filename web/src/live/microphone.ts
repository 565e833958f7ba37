import workletUrl from './capture.worklet.ts?worker&url'
import { encodePcm, levelOf, Resampler } from './pcm.ts'

/** Who gets the sound. */
export interface MicrophoneListener {
  /** Called with 16 bit samples at 16 kHz, as base64. Not called while the microphone is muted. */
  onSound(data: string): void
  /** Called with the loudness, from 0 to 1. */
  onLevel(level: number): void
}

/** The microphone of the user. */
export class Microphone {
  /** Sends nothing while true. */
  isMuted = false
  readonly #stream: MediaStream
  readonly #context: AudioContext

  private constructor(stream: MediaStream, context: AudioContext) {
    this.#stream = stream
    this.#context = context
  }

  /** Asks for the microphone and listens. Throws if the user or the browser refuses it. */
  static async open(listener: MicrophoneListener): Promise<Microphone> {
    const audio = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true }
    const stream = await navigator.mediaDevices.getUserMedia({ audio })
    const context = new AudioContext()
    try {
      await context.audioWorklet.addModule(workletUrl)
      const microphone = new Microphone(stream, context)
      const capture = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 })
      const resampler = new Resampler(context.sampleRate)
      capture.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
        const samples = resampler.convert(data)
        listener.onLevel(microphone.isMuted ? 0 : levelOf(data))
        if (!microphone.isMuted && samples.length > 0) listener.onSound(encodePcm(samples))
      }
      context.createMediaStreamSource(stream).connect(capture)
      return microphone
    } catch (error) {
      for (const track of stream.getTracks()) track.stop()
      await context.close()
      throw error
    }
  }

  /** Lets go of the microphone. */
  close(): void {
    for (const track of this.#stream.getTracks()) track.stop()
    void this.#context.close()
  }
}

import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'

/** How much a stream buffers for its reader. */
interface FrameStreamLimits {
  /** The most bytes that wait for the reader. One frame may be larger, if it waits alone. */
  readonly streamBufferBytes: number
  /** How long a full buffer waits for the reader, in milliseconds. */
  readonly streamStallMs: number
}

/** The frames on their way to one reader, in a buffer of limited size. */
export class FrameStream {
  /** What the reader reads. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>
  readonly #limits: FrameStreamLimits
  readonly #ports: Pick<Ports, 'setTimer'>
  // the constructor of ReadableStream calls `start`, which sets it
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>
  #onRead: (() => void) | undefined
  #isOpen = true

  /** `onCancel` is called when the reader closes the stream. */
  constructor(limits: FrameStreamLimits, onCancel: () => void, ports: Pick<Ports, 'setTimer'> = systemPorts) {
    this.#limits = limits
    this.#ports = ports
    this.readable = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#onRead?.(),
        cancel: () => {
          this.#isOpen = false
          this.#onRead?.()
          onCancel()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: limits.streamBufferBytes }),
    )
  }

  /** Whether there is a reader. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends a frame, as soon as it fits. Resolves to false if the reader has not made room for it in time. */
  async write(frame: Uint8Array<ArrayBuffer>): Promise<boolean> {
    if (!this.#fits(frame) && !(await this.#waitUntilFits(frame))) return false
    if (this.#isOpen) this.#controller.enqueue(frame)
    return true
  }

  /** Ends the stream after what was written. */
  end(): void {
    if (this.#isOpen) this.#controller.close()
    this.#isOpen = false
  }

  /**
   * Breaks the stream off: the reader gets an error instead of the end, and the buffer is dropped. `connection` is closed instead,
   * if the host has one: Node would print the error.
   */
  abort(connection: { destroy(): void } | undefined): void {
    this.#isOpen = false
    if (connection) connection.destroy()
    else this.#controller.error(new Error('The reader was too slow and was detached.'))
  }

  #fits(frame: Uint8Array): boolean {
    if (!this.#isOpen) return true
    const waiting = this.#limits.streamBufferBytes - (this.#controller.desiredSize ?? 0)
    return waiting <= 0 || waiting + frame.byteLength <= this.#limits.streamBufferBytes
  }

  async #waitUntilFits(frame: Uint8Array): Promise<boolean> {
    const room = new Promise<boolean>((resolve) => {
      this.#onRead = () => {
        if (this.#fits(frame)) resolve(true)
      }
    })
    return await withTimeout(room, this.#limits.streamStallMs, this.#ports, () => false).finally(() => {
      this.#onRead = undefined
    })
  }
}

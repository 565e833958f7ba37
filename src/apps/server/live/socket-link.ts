import type { RawData, WebSocket } from 'ws'
import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { ServerLimits } from '../server-options.ts'

/** The codes with which a WebSocket closes. */
export const CLOSE_CODES = {
  normal: 1000,
  /** There is no such session. */
  noSession: 1002,
  /** A frame cannot be read. */
  invalidFrame: 1007,
  /** There is no such app, or it has no live model. */
  policy: 1008,
  /** The session failed. */
  failed: 1011,
} as const

/** A reason may have this many bytes. */
const MAX_REASON_BYTES = 123

/** One WebSocket: frames one after the other, a bounded buffer, and an end for a client that is gone. */
export class SocketLink {
  readonly #socket: WebSocket
  readonly #limits: ServerLimits
  readonly #ports: Ports
  readonly #end = new AbortController()
  #handled: Promise<void> = Promise.resolve()
  /** Frames that are not handled yet. */
  #waiting = 0
  #lastSeen: number
  #stopPings: () => void = () => {}

  constructor(socket: WebSocket, limits: ServerLimits, ports: Ports = systemPorts) {
    this.#socket = socket
    this.#limits = limits
    this.#ports = ports
    this.#lastSeen = ports.monotonicNow()
    socket.pause() // until `read()`
    socket.on('error', () => this.#end.abort()) // `close` follows, and may take a while
    socket.on('pong', () => this.#seen())
    socket.on('ping', (data) => this.#pong(data))
    socket.on('close', () => {
      this.#stopPings()
      this.#end.abort()
    })
    this.#ping()
  }

  /** Aborted when either side closes the connection, or it breaks. */
  get ended(): AbortSignal {
    return this.#end.signal
  }

  /** Reads frames, each one after the one before is handled. The client waits meanwhile. Frames after the end are dropped. */
  read(handle: (text: string) => Promise<void>): void {
    this.#socket.on('message', (data, isBinary) => {
      if (!this.#isOpen) return
      this.#seen()
      if (isBinary) {
        this.close(CLOSE_CODES.invalidFrame, 'Send frames as text.')
        return
      }
      this.#socket.pause()
      this.#waiting++
      this.#handled = this.#handled
        .then(() => (this.#isOpen ? handle(textOf(data)) : undefined))
        .finally(() => {
          // one chunk of the connection may hold thousands of frames
          if (--this.#waiting === 0) this.#socket.resume()
        })
    })
    this.#socket.resume()
  }

  /** Sends a frame. Waits for a slow client, and cuts off one that reads nothing. */
  async send(frame: object): Promise<void> {
    const { streamBufferBytes, streamStallMs } = this.#limits
    if (!this.#isOpen) return
    const isSent = new Promise<void>((resolve) => this.#socket.send(JSON.stringify(frame), () => resolve()))
    if (this.#socket.bufferedAmount <= streamBufferBytes) return
    await withTimeout(isSent, streamStallMs, this.#ports, () => this.#socket.terminate())
  }

  /** Closes the connection and says why. */
  close(code: number, reason: string): void {
    this.#socket.close(code, clipBytes(reason))
    // a client that does not answer is cut off by `ws` after 30 s
    this.#socket.resume()
    this.#end.abort()
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** Answers a ping. A client that sends pings and reads no answers would fill the memory. */
  #pong(data: Buffer): void {
    this.#seen()
    if (this.#socket.bufferedAmount > this.#limits.streamBufferBytes) this.#socket.terminate()
    else this.#socket.pong(data)
  }

  #seen(): void {
    this.#lastSeen = this.#ports.monotonicNow()
  }

  /** Asks the client from time to time whether it is there. A paused connection reads no answer, so it counts as being there. */
  #ping(): void {
    this.#stopPings = this.#ports.setTimer(() => {
      if (this.#socket.isPaused) this.#seen()
      if (this.#ports.monotonicNow() - this.#lastSeen >= this.#limits.liveSilenceMs) {
        this.#socket.terminate()
        return
      }
      this.#socket.ping()
      this.#ping()
    }, this.#limits.liveSilenceMs / 2)
  }
}

function textOf(data: RawData): string {
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data as Buffer).toString()
}

/** Cuts a text at a character, so that it has at most as many bytes as a reason may have. */
function clipBytes(text: string): string {
  let clipped = text.slice(0, MAX_REASON_BYTES).toWellFormed()
  while (Buffer.byteLength(clipped) > MAX_REASON_BYTES) clipped = clipped.slice(0, -1).toWellFormed()
  return clipped
}

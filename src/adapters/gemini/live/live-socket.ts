// Access to the WebSocket of `@google/genai`. The client parses frames in a way that ends the process when a frame is
// malformed, and does not report a connection that closes before it is ready.
import type { GoogleGenAI } from '@google/genai'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { readFrame } from './read-frame.ts'

type Live = GoogleGenAI['live']

/** What the socket reports. */
interface LiveSocketEvents {
  /** A message of the service. Undefined if a frame is malformed. */
  onMessage(message: JsonObject | undefined): void
}

interface SdkCallbacks {
  onopen(): void
  onmessage(event: { data: unknown }): void
}

/** The connection of the client. `ws` is the WebSocket of the package `ws`, or the one of the platform. */
interface SdkConnection {
  connect(): void
  send(message: string): void
  close(): void
  ws?: {
    readonly bufferedAmount?: number
    readonly readyState?: number
    binaryType?: string
    pause?(): void
    resume?(): void
    terminate?(): void
    ping?(data?: string): void
    once?(event: 'pong', listener: () => void): void
  }
}

interface SdkFactory {
  create(url: string, headers: unknown, callbacks: SdkCallbacks): SdkConnection
}

/** The WebSocket of one connection. */
export class LiveSocket {
  #connection: SdkConnection | undefined
  #isWatched = false
  #isEnded = false
  #isSetupSent = false
  #isReady = false
  #onSetupSent: (() => void) | undefined
  readonly #events: LiveSocketEvents

  constructor(events: LiveSocketEvents) {
    this.#events = events
  }

  /** Whether messages reach `onMessage` directly. Otherwise they only reach the callbacks of the client. */
  get isWatched(): boolean {
    return this.#isWatched
  }

  /** Whether the service has accepted the setup. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Whether messages can be sent. */
  get isOpen(): boolean {
    return !this.#isEnded && (this.#connection?.ws?.readyState ?? 1) <= 1
  }

  /** The number of bytes that are not sent yet. */
  get bufferedBytes(): number {
    return this.#connection?.ws?.bufferedAmount ?? 0
  }

  /** A view of the client's `live` that connects through this socket. The client itself is not changed. */
  watch(live: Live): Live {
    const { webSocketFactory: factory } = live as unknown as { webSocketFactory?: unknown }
    if (!isFactory(factory)) return live
    const create = (url: string, headers: unknown, callbacks: SdkCallbacks): SdkConnection => {
      if (this.#isEnded) throw new Error('The attempt to connect has ended.')
      const connection = factory.create(url, headers, {
        ...callbacks,
        onopen: () => {
          preferArrayBuffers(connection)
          callbacks.onopen()
        },
        onmessage: ({ data }) => this.#receive(readFrame(data), callbacks),
      })
      this.#connection = connection
      this.#isWatched = true
      return this.#watchSetup(connection)
    }
    return Object.create(live, { webSocketFactory: { value: { create } } }) as Live
  }

  /** Uses the connection of a session whose socket could not be watched. */
  adopt(session: unknown): void {
    const { conn } = session as { conn?: unknown }
    this.#isReady = true
    if (!this.#connection && isRecord(conn)) this.#connection = conn as unknown as SdkConnection
  }

  /** Sends a ping, and calls `onPong` when the service has answered. False if the WebSocket has no pings, as in browsers. */
  ping(onPong: () => void): boolean {
    const ws = this.#connection?.ws
    if (!ws?.ping || !ws.once) return false
    ws.once('pong', onPong)
    ws.ping()
    return true
  }

  /** Stops reading from the network. */
  pause(): void {
    this.#connection?.ws?.pause?.()
  }

  /** Reads from the network again. */
  resume(): void {
    this.#connection?.ws?.resume?.()
  }

  /** Sends a close frame and waits for the one of the service. */
  close(): void {
    this.#isEnded = true
    try {
      this.resume() // a paused socket does not see the close frame of the service
      this.#connection?.close()
    } catch {} // the socket does not exist yet
  }

  /** Closes the socket at once. */
  destroy(): void {
    this.#isEnded = true
    try {
      if (this.#connection?.ws?.terminate) this.#connection.ws.terminate()
      else this.#connection?.close()
    } catch {} // the socket does not exist yet
  }

  /** The client gets only the message that it waits for: it would parse all others again. */
  #receive(message: JsonObject | undefined, callbacks: SdkCallbacks): void {
    if (message && isRecord(message.setupComplete) && !this.#isReady) {
      this.#isReady = true
      const data = JSON.stringify({ setupComplete: message.setupComplete })
      const forward = (): void => callbacks.onmessage({ data })
      if (this.#isSetupSent) forward()
      else this.#onSetupSent = forward // earlier, the client throws an error that nothing catches
    }
    this.#events.onMessage(message)
  }

  #watchSetup(connection: SdkConnection): SdkConnection {
    return {
      connect: () => connection.connect(),
      close: () => connection.close(),
      send: (message) => {
        connection.send(message)
        this.#isSetupSent = true
        this.#onSetupSent?.()
        this.#onSetupSent = undefined
      },
    }
  }
}

function isFactory(value: unknown): value is SdkFactory {
  return typeof value === 'object' && value !== null && 'create' in value && typeof value.create === 'function'
}

/** A Blob of the platform can only be read later, which would change the order of messages. */
function preferArrayBuffers({ ws }: SdkConnection): void {
  if (ws?.binaryType === 'blob') ws.binaryType = 'arraybuffer'
}

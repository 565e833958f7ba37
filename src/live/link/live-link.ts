// Keeps a live session connected: connects, resumes with the newest handle after a loss or before the provider closes, and gives
// up after a number of attempts.
import { backoffMs } from '../../base/backoff.ts'
import type { Ports } from '../../base/ports.ts'
import { messageOf } from '../../error/error.ts'
import {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveModel,
  type LiveServerMessage,
} from '../../tool/live-model.ts'
import { Outbox } from './outbox.ts'

/** How often and how fast a lost connection is made again. */
export interface ReconnectOptions {
  /** Attempts until the session ends. Default 10. */
  readonly attempts?: number | undefined
  /** Longest delay before the second attempt in milliseconds; it doubles with each further one. Default 250. */
  readonly delayMs?: number | undefined
  /** Upper limit of the delay in milliseconds. Default 8,000. */
  readonly maxDelayMs?: number | undefined
}

/** What the link needs from the session. */
export interface LinkOptions {
  /** The live model. */
  readonly model: LiveModel
  /** Timers and randomness. */
  readonly ports: Ports
  /** When to give up. */
  readonly reconnect: ReconnectOptions
  /** Instruction and tools for a new connection. */
  setup(): Promise<Pick<LiveConnectOptions, 'instruction' | 'tools'>>
  /** The place of the conversation now. A handle covers what came before its place. */
  place(): number
  /**
   * What to send first on a new connection. `place`: how far the handle covers the conversation; undefined for a new
   * conversation, which needs all of it.
   */
  resend(place: number | undefined): readonly LiveClientMessage[]
  /** Settles when nothing is under way, so that the connection can be changed unnoticed. */
  whenIdle(): Promise<void>
  /** Called with each message, without waiting. */
  onMessage(message: LiveServerMessage): void
  /** Called when the connection is lost. */
  onLost(): void
  /** Called before each attempt to connect again. */
  onReconnecting(attempt: number): void
  /** Called when the session is connected again. */
  onResumed(): void
  /** Called when all attempts have failed. */
  onFailed(error: LiveConnectionError): void
}

/** The provider closes a connection this long before the end it announced, at the latest. */
const GO_AWAY_MARGIN_MS = 1_000

/** After this many failed attempts the handle may be the reason: a new conversation starts from the log. */
const HANDLE_ATTEMPTS = 4

/** Messages that show that a connection works, so that earlier attempts no longer count. */
const PROGRESS: ReadonlySet<LiveServerMessage['type']> = new Set(['audio', 'text', 'toolCall', 'turnComplete'])

/** The connection of a live session, through all its reconnects. */
export class LiveLink {
  readonly #options: LinkOptions
  readonly #outbox = new Outbox()
  readonly #closing = new AbortController()
  #connection: LiveConnection | undefined
  #handle: { readonly value: string; readonly place: number } | undefined
  /** Attempts since the connection last worked. */
  #attempts = 0
  #isChanging = false
  #isPaused = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Makes the first connection. Rejects if it fails. `signal` ends the attempt. */
  async open(signal: AbortSignal | undefined): Promise<void> {
    const abort = (): void => this.#closing.abort(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await this.#connect(undefined)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Sends a message, or keeps it until there is a connection. Returns a promise while the connection is behind. */
  send(message: LiveClientMessage): Promise<void> | undefined {
    const connection = this.#isChanging ? undefined : this.#connection
    if (!connection) {
      this.#outbox.add(message)
      return undefined
    }
    try {
      return connection.send(message)
    } catch {
      this.#outbox.add(message) // the loss is noticed by the reader of the connection
      return undefined
    }
  }

  /** Stops or continues to read from the network, because the consumer is behind. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (isPaused) this.#connection?.pause?.()
    else this.#connection?.resume?.()
  }

  /** Connects with the newest handle while the old connection still works, such as to change tools that need a new setup. */
  async renew(): Promise<void> {
    if (this.#isChanging || this.#isClosed) return
    await this.#replace(this.#connection)
  }

  /** Closes the connection. It is never made again. */
  close(): void {
    this.#closing.abort(new Error('The live session was closed.'))
    this.#connection?.close()
    this.#connection = undefined
    this.#outbox.takeAll()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Connects once, with the handle if there is one, and starts to read. */
  async #connect(handle: { readonly value: string; readonly place: number } | undefined): Promise<void> {
    const { model, setup, resend } = this.#options
    const { signal } = this.#closing
    const { instruction, tools } = await setup()
    signal.throwIfAborted()
    const connection = await model.connect({ instruction, tools, resumeHandle: handle?.value, signal })
    if (this.#isClosed) {
      connection.close()
      throw signal.reason
    }
    this.#connection = connection
    if (this.#isPaused) connection.pause?.()
    void this.#read(connection)
    for (const message of resend(handle?.place)) connection.send(message)
    this.#isChanging = false
    for (const message of this.#outbox.takeAll()) this.send(message)
  }

  async #read(connection: LiveConnection): Promise<void> {
    let lost: unknown
    try {
      for await (const message of connection) {
        if (this.#connection !== connection) return // replaced
        this.#receive(connection, message)
      }
      lost = new LiveConnectionError('The connection to the live model ended.', { recover: 'resume' })
    } catch (error) {
      lost = error
    }
    // while the connection is being replaced, its end is expected
    if (this.#connection !== connection || this.#isChanging || this.#isClosed) return
    this.#connection = undefined
    connection.close()
    this.#options.onLost()
    await this.#reconnect(lost)
  }

  #receive(connection: LiveConnection, message: LiveServerMessage): void {
    if (PROGRESS.has(message.type)) this.#attempts = 0
    if (message.type === 'resumption') {
      if (message.handle !== undefined) this.#handle = { value: message.handle, place: this.#options.place() }
      return
    }
    if (message.type === 'goAway') void this.#leave(connection, message.timeLeftMs)
    this.#options.onMessage(message)
  }

  /** Waits until nothing is under way, or the announced end is near, then replaces the connection. */
  async #leave(connection: LiveConnection, timeLeftMs: number): Promise<void> {
    const { ports, whenIdle } = this.#options
    const waitMs = Math.max(0, Math.min(timeLeftMs - GO_AWAY_MARGIN_MS, timeLeftMs * 0.7))
    let cancelTimer: (() => void) | undefined
    const late = new Promise<void>((resolve) => {
      cancelTimer = ports.setTimer(resolve, waitMs)
    })
    await Promise.race([whenIdle(), late])
    cancelTimer?.()
    if (this.#connection === connection && !this.#isChanging && !this.#isClosed) await this.#replace(connection)
  }

  /** Connects again before the old connection is closed. What is sent meanwhile is kept for the new one. */
  async #replace(old: LiveConnection | undefined): Promise<void> {
    this.#isChanging = true
    this.#options.onReconnecting(++this.#attempts)
    try {
      await this.#connect(this.#handle)
      old?.close()
      this.#options.onResumed()
    } catch (error) {
      this.#isChanging = false
      if (this.#isClosed) return
      this.#connection = undefined
      old?.close()
      this.#options.onLost()
      await this.#reconnect(error)
    }
  }

  /** Tries to connect until it works, or the attempts are used up. */
  async #reconnect(lost: unknown): Promise<void> {
    const { ports, reconnect, onReconnecting, onResumed, onFailed } = this.#options
    const { attempts = 10, delayMs = 250, maxDelayMs = 8_000 } = reconnect
    let error = toConnectionError(lost)
    while (!this.#isClosed) {
      if (error.recover === 'fresh' || this.#attempts > HANDLE_ATTEMPTS) this.#handle = undefined
      if (error.recover === 'nothing' || this.#attempts >= attempts) return onFailed(error)
      this.#attempts++
      onReconnecting(this.#attempts)
      const waitMs = this.#attempts === 1 ? 0 : backoffMs(this.#attempts - 1, { delayMs, maxDelayMs }, ports.random)
      if (waitMs > 0) await this.#wait(waitMs)
      if (this.#isClosed) return
      try {
        await this.#connect(this.#handle)
        return onResumed()
      } catch (failed) {
        error = toConnectionError(failed)
      }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#closing
      const cancel = this.#options.ports.setTimer(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      }, ms)
      const stop = (): void => {
        cancel()
        resolve()
      }
      signal.addEventListener('abort', stop, { once: true })
    })
  }
}

function toConnectionError(error: unknown): LiveConnectionError {
  if (error instanceof LiveConnectionError) return error
  return new LiveConnectionError(messageOf(error), { recover: 'resume', cause: error })
}

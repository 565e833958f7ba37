// Keeps a live session connected: connects, resumes with the newest handle after a loss or before the provider closes, and gives
// up after a number of attempts. One attempt runs at a time.
import { TimerTurns } from '../../../core/base/timer-turns.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import {
  type LiveClientMessage,
  type LiveConnection,
  LiveConnectionError,
  type LiveServerMessage,
} from '../../../engine/model/live-model.ts'
import { Attempts } from './attempts.ts'
import type { LinkOptions } from './link-options.ts'
import { Outbox } from './outbox.ts'
import { SignOfLife } from './sign-of-life.ts'
import { untilAborted } from './until-aborted.ts'
import { wait } from './wait.ts'

/** A connection is replaced this long before the end that the provider announced, at the latest. */
const GO_AWAY_MARGIN_MS = 1_000
/** Work on messages that were all ready until timers get a turn. A call is recorded and runs; most other messages are passed on. */
const STEPS_PER_TURN = 4_000
const STEPS_PER_CALL = 200
/** No announced end is waited for longer. */
const MAX_GO_AWAY_MS = 10 * 60_000

/** The connection of a live session, through all its reconnects. */
export class LiveLink {
  readonly #options: LinkOptions
  readonly #attempts: Attempts
  readonly #outbox = new Outbox()
  readonly #closing = new AbortController()
  #connection: LiveConnection | undefined
  /** The newest handle that the session accepted. */
  #handle: string | undefined
  /** Is a connection being made, for the first time or again? What is sent meanwhile is kept for it. */
  #state: 'connecting first' | 'connected' | 'connecting again' = 'connecting first'
  /** `outdated`: the setup has changed since the attempt that is under way has read it. */
  #setup: 'current' | 'outdated' = 'current'
  /** The connection that the provider closes soon. */
  #leaving: LiveConnection | undefined
  #reading: 'on' | 'paused' = 'on'
  /** Watches the connection. */
  #signs: SignOfLife | undefined

  constructor(options: LinkOptions) {
    this.#options = options
    this.#attempts = new Attempts(options.reconnect, options.ports)
  }

  /** Makes the first connection. Rejects if it fails. `signal` ends the attempt. */
  async open(signal: AbortSignal | undefined): Promise<void> {
    const abort = (): void => this.#closing.abort(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await this.#connect()
    } catch (error) {
      this.close()
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /**
   * Sends media, activity or an update of the setup, or keeps it until there is a connection. Returns a promise while the
   * connection is behind. Throws if the model cannot take the message.
   */
  send(message: LiveClientMessage): Promise<void> | undefined {
    const sent = this.#trySend(message)
    if (!sent && !this.#isClosed) this.#outbox.add(message)
    return sent?.behind
  }

  /** Sends a message of the conversation if there is a connection. Otherwise `introduce` repeats it. */
  tell(message: LiveClientMessage): Promise<void> | undefined {
    return this.#trySend(message)?.behind
  }

  /** Undefined if there is no connection. */
  #trySend(message: LiveClientMessage): { readonly behind: Promise<void> | undefined } | undefined {
    if (this.#state !== 'connected' || !this.#connection) return undefined
    try {
      const behind = this.#connection.send(message)
      if (message.type === 'activity') this.#outbox.sent(message)
      return { behind }
    } catch (error) {
      if (error instanceof ToolwrightError) throw error
      return undefined // the loss is noticed by the reader of the connection
    }
  }

  /** Stops or continues to read from the network, because the consumer is behind. */
  setPaused(isPaused: boolean): void {
    this.#reading = isPaused ? 'paused' : 'on'
    if (isPaused) this.#connection?.pause?.()
    else this.#connection?.resume?.()
  }

  /** Connects with the newest handle while the old connection still works, such as to change tools that need a new setup. */
  async renew(): Promise<void> {
    this.#setup = 'outdated'
    if (this.#state === 'connected' && !this.#isClosed) await this.#replace(1)
  }

  /** Closes the connection. It is never made again. */
  close(): void {
    if (!this.#isClosed) this.#closing.abort(new Error('The live session was closed.'))
    this.#signs?.close()
    this.#connection?.close()
    this.#connection = undefined
    this.#outbox.takeAll()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Connects once, with the handle if it can be used, and moves from the old connection to the new one. */
  async #connect(): Promise<void> {
    const { model, setup, canResume, introduce, on } = this.#options
    const { signal } = this.#closing
    this.#outbox.dropUpdates() // the setup that is read now has them
    this.#setup = 'current'
    const { instruction, tools } = await untilAborted(setup(), signal)
    const resumeHandle = this.#handle !== undefined && canResume() ? this.#handle : undefined
    const connecting = model.connect({ instruction, tools, resumeHandle, signal })
    const connection = await untilAborted(connecting, signal, (late) => late.close())
    const old = this.#connection
    this.#connection = undefined // what the old connection still sends is not read
    this.#handle = resumeHandle // a handle of an earlier conversation is of no use in a new one
    if (old) on({ type: 'lost' })
    const use = (messages: readonly LiveClientMessage[]): void => this.#use(connection, messages)
    try {
      await untilAborted(introduce(resumeHandle !== undefined, use), signal)
    } catch (error) {
      connection.close()
      throw error
    } finally {
      old?.close()
    }
  }

  /** Uses a new connection from now on. */
  #use(connection: LiveConnection, messages: readonly LiveClientMessage[]): void {
    this.#closing.signal.throwIfAborted()
    try {
      for (const message of messages) connection.send(message)
    } catch (cause) {
      // a closed connection says that nothing helps, but it only was lost at once
      throw new LiveConnectionError(messageOf(cause), { recover: 'resume', cause })
    }
    this.#connection = connection
    this.#attempts.connected()
    const isFirst = this.#state === 'connecting first'
    this.#state = 'connected'
    if (this.#reading === 'paused') connection.pause?.()
    for (const message of this.#outbox.takeAll()) this.#sendKept(message)
    this.#signs?.close()
    this.#signs = connection.ping && this.#watch(connection)
    if (!isFirst) this.#options.on({ type: 'resumed' }) // before the first message
    void this.#read(connection)
  }

  #watch(connection: LiveConnection): SignOfLife {
    return new SignOfLife(connection, {
      ports: this.#options.ports,
      isPaused: () => this.#reading === 'paused',
      onSilent: () => void this.#lose(connection, silent()),
    })
  }

  #sendKept(message: LiveClientMessage): void {
    try {
      void this.send(message)
    } catch {} // the model cannot take the message, and the sender no longer waits for it
  }

  async #read(connection: LiveConnection): Promise<void> {
    let error: unknown
    try {
      const turns = new TimerTurns(STEPS_PER_TURN)
      for await (const message of connection) {
        if (this.#connection !== connection) return // replaced
        this.#signs?.seen()
        this.#receive(connection, message)
        const turn = turns.next(message.type === 'toolCall' ? STEPS_PER_CALL : 1) // a model in this process may always be ready
        if (turn) await turn
      }
      error = new LiveConnectionError('The connection to the live model ended.', { recover: 'resume' })
    } catch (lost) {
      error = lost
    }
    await this.#lose(connection, error)
  }

  /** The connection is lost. Connects again, unless another connection is on the way. */
  async #lose(connection: LiveConnection, error: unknown): Promise<void> {
    if (this.#connection !== connection || this.#isClosed) return
    this.#connection = undefined
    this.#signs?.close()
    connection.close()
    this.#options.on({ type: 'lost' })
    if (this.#state !== 'connected') return // its replacement is on the way
    this.#attempts.ended()
    await this.#reconnect(error)
  }

  #receive(connection: LiveConnection, message: LiveServerMessage): void {
    if (message.type === 'turnComplete' && this.#attempts.count > 0) this.#attempts.worked()
    if (message.type === 'resumption') {
      // an attempt that is under way resumes from the handle before
      if (message.handle !== undefined && this.#state === 'connected' && this.#options.onHandle())
        this.#handle = message.handle
      return
    }
    if (message.type === 'goAway') void this.#leave(connection, message.timeLeftMs)
    this.#options.on({ type: 'message', message })
  }

  /** Waits until nothing is under way, or the announced end is near, then replaces the connection. */
  async #leave(connection: LiveConnection, timeLeftMs: number): Promise<void> {
    if (this.#leaving === connection) return
    this.#leaving = connection
    const { ports, whenIdle } = this.#options
    const { signal } = this.#closing
    const latestMs = Math.max(0, Math.min(timeLeftMs - GO_AWAY_MARGIN_MS, timeLeftMs * 0.7, MAX_GO_AWAY_MS))
    await wait(latestMs, ports, signal, whenIdle())
    this.#attempts.ended()
    // a provider may send one new connection after the other away
    await wait(this.#attempts.delayMs(this.#attempts.count + 1), ports, signal)
    if (this.#connection !== connection || this.#state !== 'connected' || this.#isClosed || this.#attempts.isOver)
      return
    await this.#replace(++this.#attempts.count)
  }

  /** Connects again before the old connection is closed. What is sent meanwhile is kept for the new one. */
  async #replace(attempt: number): Promise<void> {
    this.#state = 'connecting again'
    this.#options.on({ type: 'reconnecting', attempt })
    try {
      await this.#connect()
    } catch (error) {
      if (this.#connection && !this.#isClosed) this.#options.on({ type: 'lost' })
      this.#connection?.close()
      this.#connection = undefined
      return await this.#reconnect(error)
    }
    this.#onConnected()
  }

  /** Tries to connect until it works, or the attempts are used up. */
  async #reconnect(lost: unknown): Promise<void> {
    const { ports, on } = this.#options
    const attempts = this.#attempts
    this.#state = 'connecting again'
    let error = toConnectionError(lost)
    while (!this.#isClosed) {
      if (attempts.isHandleRefused(error)) this.#handle = undefined
      if (error.recover === 'nothing' || attempts.isOver) return on({ type: 'failed', error })
      on({ type: 'reconnecting', attempt: ++attempts.count })
      await wait(attempts.delayMs(attempts.count), ports, this.#closing.signal)
      if (this.#isClosed) return
      try {
        await this.#connect()
        return this.#onConnected()
      } catch (failed) {
        error = toConnectionError(failed)
      }
    }
  }

  #onConnected(): void {
    if (this.#setup === 'outdated' && !this.#isClosed) void this.renew()
  }
}

function silent(): LiveConnectionError {
  const problem = 'The live model gave no sign of life for 30 seconds'
  return new LiveConnectionError(`${problem}: the connection is half open.`, { recover: 'resume' })
}

function toConnectionError(error: unknown): LiveConnectionError {
  if (error instanceof LiveConnectionError) return error
  return new LiveConnectionError(messageOf(error), { recover: 'resume', cause: error })
}

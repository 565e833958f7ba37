import { backoffMs } from '../../../core/base/backoff.ts'
import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { IDLE_MS, MAX_OPENS_PER_MINUTE } from '../limits.ts'
import { type McpConnection, RefusedError } from './connection.ts'

const MINUTE = 60_000

/** Delay before the second attempt to reopen a connection that died, in milliseconds. */
const REOPEN_DELAY = { delayMs: 500, maxDelayMs: 500 }

interface Slot {
  /** The connection, or the attempt to open it. */
  connection: Promise<McpConnection> | undefined
  /** The connection, when it is open. */
  current: McpConnection | undefined
  /** When it was opened, in the last minute. */
  opened: number[]
}

/** The connections of a toolset: one for each identity, opened on first use. */
export class ConnectionPool {
  readonly #slots: Map<string, Slot> = new Map()
  readonly #ports: Ports
  #stopSweep: (() => void) | undefined
  /** How often the pool was closed. */
  #closes = 0

  constructor(ports: Ports = systemPorts) {
    this.#ports = ports
  }

  /** The connection for an identity. Opens it if there is none, and reopens it if it has died. */
  async get(key: string, open: () => Promise<McpConnection>): Promise<McpConnection> {
    const slot = this.#slots.get(key) ?? { connection: undefined, current: undefined, opened: [] }
    this.#slots.set(key, slot)
    const known = slot.connection
    slot.connection ??= this.#open(slot, open, false)
    if (!known) return await slot.connection
    const closes = this.#closes
    const current = await known.catch(() => undefined)
    if (closes !== this.#closes) throw new Error('the toolset was closed') // a connection now would stay open for ever
    if (current?.isOpen) return current
    // else another caller has replaced the connection meanwhile
    if (slot.connection === known) slot.connection = this.#open(slot, open, current !== undefined)
    return await slot.connection
  }

  /** The open connection for an identity; undefined if there is none. */
  peek(key: string): McpConnection | undefined {
    const current = this.#slots.get(key)?.current
    return current?.isOpen ? current : undefined
  }

  async #open(slot: Slot, open: () => Promise<McpConnection>, isReopened: boolean): Promise<McpConnection> {
    this.#sweepLater()
    try {
      return await this.#openOnce(slot, open)
    } catch (error) {
      if (!isReopened || error instanceof RefusedError) throw error
      await this.#wait(backoffMs(1, REOPEN_DELAY, this.#ports.random))
      return await this.#openOnce(slot, open)
    }
  }

  async #openOnce(slot: Slot, open: () => Promise<McpConnection>): Promise<McpConnection> {
    const now = this.#ports.monotonicNow()
    slot.opened = slot.opened.filter((at) => now - at < MINUTE)
    if (slot.opened.length >= MAX_OPENS_PER_MINUTE)
      throw new Error(
        `the connection was opened ${MAX_OPENS_PER_MINUTE} times within a minute. It is tried again later`,
      )
    slot.opened.push(now)
    slot.current = await open()
    return slot.current
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#ports.setTimer(resolve, ms))
  }

  /** Closes connections of single users that are not used. The connection without a user stays: its server may keep state. */
  #sweepLater(): void {
    if (this.#stopSweep || [...this.#slots.keys()].every((key) => key === SHARED)) return
    this.#stopSweep = this.#ports.setTimer(
      () => {
        this.#stopSweep = undefined
        void this.#sweep()
      },
      IDLE_MS / 2,
      { background: true },
    )
  }

  async #sweep(): Promise<void> {
    for (const [key, slot] of this.#slots) {
      const connection = await slot.connection?.catch(() => undefined)
      if (key === SHARED || connection?.isBusy) continue
      if (connection?.isOpen && performance.now() - connection.lastUsed < IDLE_MS) continue
      this.#slots.delete(key)
      await connection?.close()
    }
    this.#sweepLater()
  }

  /** Closes all connections. A later use opens new ones. */
  async close(): Promise<void> {
    this.#closes++
    this.#stopSweep?.()
    this.#stopSweep = undefined
    const open = [...this.#slots.values()].map(async ({ connection }) =>
      (await connection?.catch(() => undefined))?.close(),
    )
    this.#slots.clear()
    await Promise.all(open)
  }
}

/** The identity of a connection that all users share. */
export const SHARED = ''

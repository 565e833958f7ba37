import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { systemPorts } from '../../core/base/ports.ts'
import type { ListenClient } from './listen-client.ts'

/** Makes a connection of its own. */
export type OpenListener = () => Promise<ListenClient>

/** Options of `Listening`. */
interface ListeningOptions {
  /** The channel to listen to. */
  readonly channel: string
  /** Makes the connection. Undefined: there is none. */
  readonly open: OpenListener | undefined
  /** Sends a message to the channel, on another connection. */
  readonly notify: (message: string) => Promise<unknown>
  /** Gets each message, and nothing when messages may have been missed. */
  readonly listener: (message?: string) => void
  /** Receives a warning if messages do not arrive. */
  readonly logger: { warn(message: string): void } | undefined
  /** Names the database in the warning. */
  readonly place: string
}

/** How often changes are looked for if messages do not arrive. */
const POLL_MS = 1_000

/** How long a test message may take. */
const TEST_MS = 2_000

/** How often a connection without messages is checked. */
const CHECK_MS = 30_000

const MAX_PAUSE_MS = 5_000

/** The channel of a schema: names of channels have at most 63 bytes. */
export function channelOf(schema: string): string {
  return `toolwright_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
}

/** Listens to a channel until it is stopped. Connects again when the connection is lost. Keeps no process alive. */
export class Listening {
  readonly #options: ListeningOptions
  readonly #stopping: AbortController = new AbortController()

  constructor(options: ListeningOptions) {
    this.#options = options
    void this.#run()
  }

  /** Ends it. */
  stop(): void {
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    const { open, listener, logger, place } = this.#options
    const { signal } = this.#stopping
    let canListen = open !== undefined
    for (let failures = 0; canListen && open && !signal.aborted; failures++) {
      await this.#pause(failures === 0 ? 0 : Math.min(100 * 2 ** failures, MAX_PAUSE_MS))
      try {
        canListen = await this.#listen(open, () => {
          failures = 0
        })
      } catch {
        // the server is away
      }
    }
    if (signal.aborted) return
    if (open) {
      logger?.warn(
        `Messages of the Postgres database ${place} do not arrive, because a pooler is in between: changes are looked for each second. Set listen of postgres() to a URL that leads to the server itself.`,
      )
    }
    while (!signal.aborted) {
      listener()
      await this.#pause(POLL_MS)
    }
  }

  /** Listens until the connection is lost. Returns false if messages do not arrive on this connection. */
  async #listen(open: OpenListener, onListening: () => void): Promise<boolean> {
    const { listener, channel, notify } = this.#options
    const { signal } = this.#stopping
    const client = await open()
    const isLost = new AbortController()
    const test = `test ${systemPorts.newId()}`
    let isTested: (() => void) | undefined
    client.on('error', () => isLost.abort())
    client.on('end', () => isLost.abort())
    client.on('notification', ({ payload }) => {
      if (payload === test) isTested?.()
      else if (!payload?.startsWith('test ')) listener(payload ?? '')
    })
    const end = AbortSignal.any([signal, isLost.signal])
    try {
      await client.connect()
      client.unref?.()
      await client.query(`LISTEN "${channel}"`)
      // In the next transaction a pooler may give another connection, and it passes on no messages.
      const { rows } = await client.query('SELECT count(*) AS count FROM pg_listening_channels()')
      if (String(rows[0]?.count) === '0') return false
      const arrived = new Promise<void>((resolve) => (isTested = resolve))
      await notify(test)
      const isArrived = await Promise.race([arrived.then(() => true), this.#pause(TEST_MS, end).then(() => false)])
      if (!isArrived) return end.aborted
      onListening()
      listener() // what was missed
      while (!end.aborted) {
        await this.#pause(CHECK_MS, end)
        if (!end.aborted) await withTimeout(client.query('SELECT 1'))
      }
      return true
    } finally {
      client.end().catch(() => {})
    }
  }

  /** Waits; shorter if the signal is aborted. */
  async #pause(ms: number, signal: AbortSignal = this.#stopping.signal): Promise<void> {
    if (signal.aborted) return
    const woken = new AbortController()
    const cancel = systemPorts.setTimer(() => woken.abort(), ms, { background: true })
    await once(AbortSignal.any([signal, woken.signal]), 'abort')
    cancel()
  }
}

/** Rejects if a network that is gone gives no answer. */
async function withTimeout(answer: Promise<unknown>): Promise<void> {
  let cancel = (): void => {}
  const late = new Promise<never>((_, reject) => {
    cancel = systemPorts.setTimer(() => reject(new Error('no answer')), TEST_MS, { background: true })
  })
  try {
    await Promise.race([answer, late])
  } finally {
    cancel()
  }
}

import type { SessionKey } from '../session/service.ts'
import { isSlotMessage } from './limit-service.ts'
import { keyColumns, keyOf, type RowOwner } from './session-row.ts'
import { MAX_MESSAGE_BYTES, query, rowsOf, type SqlDatabase, type SqlWork, type Statement } from './sql.ts'

/** The most sessions that are found at once. */
const MAX_FOUND = 1_000

type Listener = (key: SessionKey) => void

/** Tells processes that wait when a session has something for them. */
export class SessionWatch {
  readonly #database: SqlDatabase
  readonly #listeners: Set<Listener> = new Set()
  readonly #announce: Statement | undefined
  readonly #announceWaiting: Statement | undefined
  /** What was last found of each session with waiting items, by row id. */
  #found: ReadonlyMap<number, string> = new Map()
  #stop: (() => void) | undefined

  constructor(database: SqlDatabase) {
    const { notify } = database.dialect
    this.#database = database
    if (notify === undefined) return
    this.#announce = query(`SELECT ${notify} AS sent`)
    this.#announceWaiting = query(
      `SELECT ${notify} AS sent WHERE EXISTS (
         SELECT 1 FROM toolwright_inbox AS items, toolwright_sessions AS owners
         WHERE items.session = owners.id AND body IS NOT NULL AND owners.app = ? AND owners."user" = ? AND owners.session = ?)`,
    )
  }

  /** Tells other processes of a change, in its transaction. */
  *announce(key: SessionKey): SqlWork<void> {
    if (this.#announce) yield* rowsOf(this.#announce, toMessage(key))
  }

  /** Tells other processes that a session is free, if it has items for the next holder. */
  *announceIfWaiting(key: SessionKey): SqlWork<void> {
    if (this.#announceWaiting) yield* rowsOf(this.#announceWaiting, toMessage(key), ...keyColumns(key))
  }

  /** Tells the listeners of this process of a change, after its commit. */
  notify(key: SessionKey): void {
    // later: what a listener does must not delay or fail the write
    for (const listener of this.#listeners) queueMicrotask(() => this.#listeners.has(listener) && listener({ ...key }))
  }

  /** Calls the listener for changes, until the returned function is called. */
  watch(listener: Listener): () => void {
    const own: Listener = (key) => listener(key) // the same function may watch twice
    this.#listeners.add(own)
    this.#stop ??= this.#database.watch?.((message) => {
      if (message !== undefined && isSlotMessage(message)) return
      const key = message === undefined ? undefined : toKey(message)
      if (key) this.notify(key)
      else this.#findWaiting().catch(() => {}) // the next time finds them
    })
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  /** Finds sessions with inbox items, and tells the listeners of those that have changed since the last time. */
  async #findWaiting(): Promise<void> {
    const rows = await this.#database.readOne(WAITING)
    const found = new Map<number, string>()
    for (const row of rows as unknown[] as (RowOwner & { readonly newest: number; readonly epoch: number })[]) {
      const state = `${row.newest} ${row.epoch}` // a new item, or another holder
      found.set(row.id, state)
      if (this.#found.get(row.id) !== state) this.notify(keyOf(row))
    }
    this.#found = found
  }
}

const WAITING = query(
  `SELECT id, app, "user", session, epoch, newest FROM toolwright_sessions, (
     SELECT session AS waiting, max(id) AS newest FROM toolwright_inbox WHERE body IS NOT NULL GROUP BY session
   ) AS items WHERE id = waiting ORDER BY newest DESC LIMIT ${MAX_FOUND}`,
)

/** A message without a key makes others look for themselves. */
function toMessage({ appName, userId, sessionId }: SessionKey): string {
  const text = JSON.stringify([appName, userId, sessionId])
  return new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES ? '' : text
}

/** The key of a message; undefined for one without, and for a message of another program. */
function toKey(message: string): SessionKey | undefined {
  try {
    const key: unknown = JSON.parse(message)
    if (!Array.isArray(key) || key.length !== 3 || !key.every((id) => typeof id === 'string')) return undefined
    const [appName, userId, sessionId] = key as [string, string, string]
    return { appName, userId, sessionId }
  } catch {
    return undefined
  }
}

import type { StatementSync } from 'node:sqlite'
import type { Lease, SessionKey } from '../session/service.ts'
import type { Database } from './database.ts'
import { fromText, toText } from './text.ts'

/** The row of a session. The tables are strict: what a column is declared as it is. */
export interface SessionRow {
  readonly id: number
  readonly app: string
  readonly user: string
  readonly session: string
  readonly seq: number
  readonly epoch: number
  readonly expires_at: number
  readonly updated_at: number
}

/** The epoch of a session nobody holds. */
const FREE = 0

/** All but the checkpoint, which may be large and is asked for by itself. */
const COLUMNS = 'id, app, user, session, seq, epoch, expires_at, updated_at'

/** Sessions without what they hold: who they are, where their logs are, and who may write. */
export class SessionRows {
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #list: StatementSync
  readonly #checkpoint: StatementSync
  readonly #delete: StatementSync
  readonly #nextEpoch: StatementSync
  readonly #claim: StatementSync
  readonly #renew: StatementSync
  readonly #release: StatementSync
  readonly #advance: StatementSync
  readonly #interrupted: StatementSync

  constructor(database: Database) {
    const ofKey = 'app = ? AND user = ? AND session = ?'
    this.#insert = database.prepare(
      `INSERT INTO toolwright_sessions (app, user, session, seq, epoch, expires_at, updated_at)
       VALUES (?, ?, ?, 0, ${FREE}, 0, ?) ON CONFLICT DO NOTHING`,
    )
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE ${ofKey}`)
    this.#list = database.prepare(`SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND user = ? ORDER BY id`)
    this.#checkpoint = database.prepare('SELECT checkpoint FROM toolwright_sessions WHERE id = ?')
    this.#delete = database.prepare('DELETE FROM toolwright_sessions WHERE id = ?')
    // One counter for the file: a lease on a deleted session is not one on its namesake.
    this.#nextEpoch = database.prepare(
      "UPDATE toolwright_meta SET value = value + 1 WHERE name = 'epoch' RETURNING value",
    )
    this.#claim = database.prepare('UPDATE toolwright_sessions SET epoch = ?, expires_at = ? WHERE id = ?')
    this.#renew = database.prepare(`UPDATE toolwright_sessions SET expires_at = ? WHERE ${ofKey} AND epoch = ?`)
    this.#release = database.prepare(`UPDATE toolwright_sessions SET epoch = ${FREE} WHERE ${ofKey} AND epoch = ?`)
    this.#advance = database.prepare(
      'UPDATE toolwright_sessions SET seq = ?, updated_at = ?, checkpoint = coalesce(?, checkpoint) WHERE id = ?',
    )
    this.#interrupted = database.prepare(
      `SELECT ${COLUMNS} FROM toolwright_sessions WHERE app = ? AND epoch <> ${FREE} AND expires_at <= ? ORDER BY id`,
    )
  }

  /** False when there is one already. */
  insert(key: SessionKey, now: number): boolean {
    return this.#insert.run(...textOf(key), now).changes > 0
  }

  find(key: SessionKey): SessionRow | undefined {
    return this.#find.get(...textOf(key)) as SessionRow | undefined
  }

  list({ appName, userId }: { appName: string; userId: string }): SessionRow[] {
    return this.#list.all(toText(appName), toText(userId)) as unknown[] as SessionRow[]
  }

  /** What the log came to, in writing. */
  checkpoint(id: number): string | null {
    return this.#checkpoint.get(id)?.checkpoint as string | null
  }

  delete(id: number): void {
    this.#delete.run(id)
  }

  /** Gives the row a new holder, unless it has one that lives. Inside a transaction. */
  claim(row: SessionRow, now: number, expiresAt: number): number | undefined {
    if (row.epoch !== FREE && now < row.expires_at) return undefined
    const epoch = Number(this.#nextEpoch.get()?.value)
    this.#claim.run(epoch, expiresAt, row.id)
    return epoch
  }

  /** The session of a lease, while nobody has followed its holder: the epoch fences, not the clock. */
  held({ key, epoch }: Lease): SessionRow | undefined {
    if (!isEpoch(epoch)) return undefined
    const row = this.find(key)
    return row?.epoch === epoch ? row : undefined
  }

  /** False when the lease is lost. */
  renew({ key, epoch }: Lease, expiresAt: number): boolean {
    return isEpoch(epoch) && this.#renew.run(expiresAt, ...textOf(key), epoch).changes > 0
  }

  release({ key, epoch }: Lease): void {
    if (isEpoch(epoch)) this.#release.run(...textOf(key), epoch)
  }

  advance(id: number, seq: number, now: number, checkpoint: string | undefined): void {
    this.#advance.run(seq, now, checkpoint ?? null, id)
  }

  interrupted(appName: string, now: number): SessionRow[] {
    return this.#interrupted.all(toText(appName), now) as unknown[] as SessionRow[]
  }
}

export function keyOf({ app, user, session }: SessionRow): SessionKey {
  const what = 'The id of a session'
  return { appName: fromText(app, what), userId: fromText(user, what), sessionId: fromText(session, what) }
}

/** The epoch of a lease that may have been made up. */
function isEpoch(epoch: number): boolean {
  return Number.isSafeInteger(epoch) && epoch > FREE
}

function textOf({ appName, userId, sessionId }: SessionKey): [string, string, string] {
  return [toText(appName), toText(userId), toText(sessionId)]
}

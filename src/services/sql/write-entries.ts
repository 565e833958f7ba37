// Encoding and writing large entries blocks the event loop: users take turns with it.
import type { NewEntry } from '../../core/event/event.ts'
import type { SessionKey } from '../session/service.ts'
import { areLarge, type EncodedEntry, encodeEntries, sizeOfEncoded } from './entry-encoding.ts'
import { MAX_PIECE_BYTES } from './read-in-turn.ts'
import type { SqlDatabase, SqlWork } from './sql.ts'

/** Where entries are written. */
interface Target {
  /** The database. */
  readonly database: SqlDatabase
  /** The session. */
  readonly key: SessionKey
}

/** Encodes entries. Large ones wait for the turn of the user. */
export function encodeInTurn(
  { database, key }: Target,
  entries: readonly NewEntry[],
): EncodedEntry[] | Promise<EncodedEntry[]> {
  if (!areLarge(entries)) return encodeEntries(entries)
  return database.turns.take(key.userId, () => encodeEntries(entries))
}

/** Runs `work`, which inserts these entries, in a write transaction. Large ones wait for the turn of the user. */
export function writeInTurn<T>(
  { database, key }: Target,
  encoded: readonly EncodedEntry[],
  work: () => SqlWork<T>,
  mayWaitLonger?: () => SqlWork<boolean>,
): Promise<T> {
  const write = (): Promise<T> => database.write(work, mayWaitLonger)
  return sizeOfEncoded(encoded) > MAX_PIECE_BYTES ? database.turns.take(key.userId, write) : write()
}
